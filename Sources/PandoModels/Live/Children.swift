/// The properties of a model that hold its children.
public struct Children<Root: KeyPathModel>: Sendable {
  @usableFromInline let properties: [ChildProperty]

  /// Names the properties.
  ///
  /// - Parameter paths: Key paths to stored `var`s, in the order in which they are coded.
  public init<each Slot: ChildSlot>(
    _ paths: repeat any WritableKeyPath<Root, each Slot> & Sendable
  ) {
    var properties: [ChildProperty] = []
    for path in repeat each paths { properties.append(ChildProperty(path)) }
    self.properties = properties
  }

  @inlinable
  func map(_ root: Root, _ transform: (any Model) -> (any Model)?) -> Root? {
    var root = root
    let isWhole = unsafe withUnsafeMutablePointer(to: &root) { place in
      let place = UnsafeMutableRawPointer(place)
      for property in properties {
        // A root of the type that the properties were made for.
        guard unsafe property.map(place, transform) else { return false }
      }
      return true
    }
    return isWhole ? root : nil
  }

  @inlinable
  func forEach(of root: Root, _ visit: (any Model) -> Void) {
    unsafe withUnsafePointer(to: root) { place in
      let place = unsafe UnsafeRawPointer(place)
      for property in properties { unsafe property.forEach(place, visit) }
    }
  }
}
