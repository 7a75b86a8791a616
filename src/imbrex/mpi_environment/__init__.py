"""The user's MPI: its launcher, its library and compiler, and what we build with them."""
