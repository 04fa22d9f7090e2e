/// The properties of a model that hold its children.
public struct Children<Root: KeyPathModel>: Sendable {
  /// One property: how its children are replaced and visited.
  private struct Property: Sendable {
    /// Returns `false` if the model can't be without a child that was removed.
    let map: @Sendable (inout Root, (any Model) -> (any Model)?) -> Bool
    let forEach: @Sendable (Root, (any Model) -> Void) -> Void
  }

  private let properties: [Property]

  /// Names the properties.
  ///
  /// - Parameter paths: Key paths to stored `var`s, in the order in which they are coded.
  public init<each Slot: ChildSlot>(
    _ paths: repeat any WritableKeyPath<Root, each Slot> & Sendable
  ) {
    var properties: [Property] = []
    for path in repeat each paths { properties.append(Self.property(path)) }
    self.properties = properties
  }

  private static func property<Slot: ChildSlot>(
    _ path: any WritableKeyPath<Root, Slot> & Sendable
  ) -> Property {
    guard let offset = MemoryLayout<Root>.offset(of: path) else {
      return Property(
        map: { root, transform in
          guard let slot = root[keyPath: path].mapSlot(transform) else { return false }
          root[keyPath: path] = slot
          return true
        },
        forEach: { root, visit in root[keyPath: path].forEachInSlot(visit) })
    }
    // A stored property: several times faster without the key path.
    return Property(
      map: { root, transform in
        unsafe withUnsafeMutableBytes(of: &root) { bytes in
          // `offset(of:)` says that a slot is stored there.
          guard let start = bytes.baseAddress else { return true }
          let place = unsafe (start + offset).assumingMemoryBound(to: Slot.self)
          guard let slot = unsafe place.pointee.mapSlot(transform) else { return false }
          unsafe place.pointee = slot
          return true
        }
      },
      forEach: { root, visit in
        unsafe withUnsafeBytes(of: root) { bytes in
          guard let start = bytes.baseAddress else { return }
          unsafe (start + offset).assumingMemoryBound(to: Slot.self).pointee.forEachInSlot(visit)
        }
      })
  }

  func map(_ root: Root, _ transform: (any Model) -> (any Model)?) -> Root? {
    var root = root
    for property in properties {
      guard property.map(&root, transform) else { return nil }
    }
    return root
  }

  func forEach(of root: Root, _ visit: (any Model) -> Void) {
    for property in properties { property.forEach(root, visit) }
  }
}
