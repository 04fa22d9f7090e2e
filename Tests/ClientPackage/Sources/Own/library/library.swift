/// A module of the service's own.
public let nameOflibrary = "library"
