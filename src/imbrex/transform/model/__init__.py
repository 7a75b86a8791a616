"""The program model that every reader fills and every analysis reads."""
