/// One change of an ordered list; several are applied one after another.
public enum CollectionChangeInformation: Hashable, Sendable, Codable {
  /// The element at an index has other contents.
  case update(index: Int)
  /// The element at an index has gone.
  case delete(index: Int)
  /// An element has come in at an index.
  case insert(index: Int)
  /// An element has left one index and come in at another, which counts without it; its contents may
  /// have changed too.
  case move(from: Int, to: Int)
}
