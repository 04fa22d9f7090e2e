print("pando")
