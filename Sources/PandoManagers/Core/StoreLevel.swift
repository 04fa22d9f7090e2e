/// The place of a store's entities; a manager reads from the nearest level to the farthest.
///
/// ```swift
/// let stores: [any Storing<Book>] = [InMemoryStore<Book>(), DiskStore<Book>(modelStore: store)]
/// print(stores.count { $0.level.isLocal })  // 2
/// ```
public enum StoreLevel: Int, Sendable, Comparable, CaseIterable {
  /// In the memory of this process.
  case memory
  /// On the disk of this machine.
  case disk
  /// On a server.
  case remote

  /// Whether the level needs no server.
  public var isLocal: Bool { self != .remote }

  /// Compares the distance of two levels.
  ///
  /// - Parameters:
  ///   - left: A level.
  ///   - right: A level.
  /// - Returns: Whether the left one is read before the right one.
  public static func < (left: StoreLevel, right: StoreLevel) -> Bool {
    left.rawValue < right.rawValue
  }
}
