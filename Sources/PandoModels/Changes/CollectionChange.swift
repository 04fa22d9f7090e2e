/// What happened to an ordered list.
public enum CollectionChange: Hashable, Sendable, Codable {
  /// It was set as a whole, or removed.
  case reset
  /// It changed at these places, in this order.
  case changes([CollectionChangeInformation])
}
