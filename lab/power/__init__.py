"""Power loss: what our server has acknowledged is on the disk, whenever the power goes."""
