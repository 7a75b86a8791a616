"""How rewrites read in the user's file: edits of bytes, statements in C and Fortran, layout."""
