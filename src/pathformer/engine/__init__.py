"""THE PRODUCT ANSWERS: read, find, calibrate, select, reasons."""
