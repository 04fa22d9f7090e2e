/// A reference that does not keep its object alive.
///
/// `weak` needs a property whose type is a class or a class protocol. This type takes any of them as a parameter, as in
/// `WeakReference<any Listener>`. Public for inlining, as ``Locked``.
///
/// - Note: Any thread, as `weak`. ``object`` is a strong reference. A caller that holds a lock releases it after the
///   lock, because releasing it may run a `deinit`.
public struct WeakReference<Object> {
  @usableFromInline weak let reference: AnyObject?

  /// Makes a weak reference to an object.
  ///
  /// *Precondition:* the object is an instance of a class.
  @inlinable
  public init(_ object: Object) { reference = object as AnyObject }

  /// The object; `nil` once it is deallocated.
  @inlinable
  public var object: Object? {
    // Unwrapped before the cast, because `nil` can be cast to `AnyObject`, in a box.
    guard let reference else { return nil }
    return reference as? Object
  }
}

// Sendable because the reference is never assigned again, and the runtime clears it atomically.
extension WeakReference: @unchecked Sendable where Object: Sendable {}

/// A list of weak references, in the order in which the objects were added.
public struct WeakList<Object> {
  @usableFromInline var references: [WeakReference<Object>] = []

  /// Makes an empty list.
  @inlinable
  public init() {}

  /// The number of entries, including those of deallocated objects that the list has not yet removed.
  @inlinable
  public var count: Int { references.count }

  /// Whether the list has no entries.
  @inlinable
  public var isEmpty: Bool { references.isEmpty }

  /// Appends an object, and removes the entries of deallocated ones.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public mutating func append(_ object: Object) {
    removeEnded()
    references.append(WeakReference(object))
  }

  /// The living objects, in order.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public var objects: [Object] { references.compactMap(\.object) }

  /// Removes the entries of deallocated objects.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public mutating func removeEnded() { references.removeAll { $0.reference == nil } }
}

extension WeakList: Sendable where Object: Sendable {}
