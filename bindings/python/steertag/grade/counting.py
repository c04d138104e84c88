"""Numbers with the word for what they count."""


def counted(number, one, many):
    """ "1 call", "2 calls" """
    return f"{number} {one if number == 1 else many}"
