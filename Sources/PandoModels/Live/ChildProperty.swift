/// One property of a model that holds children: how they are replaced and visited.
///
/// It knows the model by its place in memory only: without type parameters a call costs a fraction.
@safe
@usableFromInline
struct ChildProperty: Sendable {
  /// Replaces the children in the property of the model at a place.
  ///
  /// Returns `false` if the model can't be without a child that was removed.
  @usableFromInline let map:
    @Sendable (UnsafeMutableRawPointer, (any Model) -> (any Model)?) -> Bool
  /// Visits the children in the property of the model at a place.
  @usableFromInline let forEach: @Sendable (UnsafeRawPointer, (any Model) -> Void) -> Void

  /// Makes the property that a key path leads to.
  init<Root, Slot: ChildSlot>(_ path: any WritableKeyPath<Root, Slot> & Sendable) {
    guard let offset = MemoryLayout<Root>.offset(of: path) else {
      unsafe map = { root, transform in
        let root = unsafe root.assumingMemoryBound(to: Root.self)
        guard let slot = unsafe root.pointee[keyPath: path].mapSlot(transform) else { return false }
        unsafe root.pointee[keyPath: path] = slot
        return true
      }
      unsafe forEach = { root, visit in
        unsafe root.assumingMemoryBound(to: Root.self).pointee[keyPath: path].forEachInSlot(visit)
      }
      return
    }
    // A stored property: `offset(of:)` says that a slot lies there.
    unsafe map = { root, transform in
      let place = unsafe (root + offset).assumingMemoryBound(to: Slot.self)
      return unsafe place.pointee.replaceInSlot(transform)
    }
    unsafe forEach = { root, visit in
      unsafe (root + offset).assumingMemoryBound(to: Slot.self).pointee.forEachInSlot(visit)
    }
  }
}
