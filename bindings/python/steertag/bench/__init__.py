"""`steertag bench`: measures the data path to a server of NFS."""
