/// A reference that does not keep its object alive.
///
/// `weak` needs a property whose type is a class or a class protocol; this takes any such type as a parameter, as in
/// `WeakReference<any Listener>`. Public so that it can be inlined, as ``Locked``.
///
/// - Note: Any thread, as `weak`. A getter's result is a strong reference: a caller that holds a lock lets it
///   leave the lock, because the end of the object may run there otherwise.
public struct WeakReference<Object> {
  @usableFromInline weak let reference: AnyObject?

  /// Refers to an object.
  ///
  /// *Precondition:* the object is an instance of a class.
  @inlinable
  public init(_ object: Object) { reference = object as AnyObject }

  /// The object; `nil` once it has ended.
  @inlinable
  public var object: Object? {
    // Not cast while it is optional: `nil` can be cast to `AnyObject`, in a box.
    guard let reference else { return nil }
    return reference as? Object
  }
}

// Sendable because the one reference never changes, and its end is atomic.
extension WeakReference: @unchecked Sendable where Object: Sendable {}

/// Objects in the order in which they were added; none is kept alive.
public struct WeakList<Object> {
  @usableFromInline var references: [WeakReference<Object>] = []

  /// Makes an empty list.
  @inlinable
  public init() {}

  /// How many entries there are, with those of ended objects that have not been forgotten.
  @inlinable
  public var count: Int { references.count }

  /// Whether there are no entries.
  @inlinable
  public var isEmpty: Bool { references.isEmpty }

  /// Adds an object behind the others, and forgets those that have ended.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public mutating func append(_ object: Object) {
    removeEnded()
    references.append(WeakReference(object))
  }

  /// The objects that are alive, in order.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public var objects: [Object] { references.compactMap(\.object) }

  /// Forgets the objects that have ended.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public mutating func removeEnded() { references.removeAll { $0.reference == nil } }
}

extension WeakList: Sendable where Object: Sendable {}
