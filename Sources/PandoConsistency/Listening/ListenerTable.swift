/// The holders of listeners, by listener.
struct ListenerTable {
  private(set) var holders: [ObjectIdentifier: ListenerHolder] = [:]
  /// The count of insertions before the next search for released listeners.
  private var untilSweep = 64

  func holder(of listener: AnyObject) -> ListenerHolder? {
    guard let holder = holders[ObjectIdentifier(listener)], holder.listener === listener else {
      return nil
    }
    return holder
  }

  /// Inserts a holder.
  ///
  /// - Returns: The holder of a released listener that had the same address.
  mutating func insert(_ holder: ListenerHolder, for listener: AnyObject) -> ListenerHolder? {
    untilSweep -= 1
    return holders.updateValue(holder, forKey: ObjectIdentifier(listener))
  }

  mutating func remove(_ listener: AnyObject) -> ListenerHolder? {
    guard holder(of: listener) != nil else { return nil }
    return holders.removeValue(forKey: ObjectIdentifier(listener))
  }

  mutating func remove(_ holder: ListenerHolder) {
    // A released listener has no address, so the holder itself is searched.
    if let entry = holders.first(where: { $0.value === holder }) { holders[entry.key] = nil }
  }

  /// True if enough listeners were added since the last search for released ones.
  var isSweepDue: Bool { untilSweep <= 0 }

  /// Removes and returns the holders of released listeners.
  mutating func sweep() -> [ListenerHolder] {
    let dead = holders.filter { $0.value.listener == nil }
    for key in dead.keys { holders[key] = nil }
    untilSweep = Swift.max(64, holders.count)
    return Array(dead.values)
  }

  mutating func removeAll() -> [ListenerHolder] {
    defer { self = ListenerTable() }
    return Array(holders.values)
  }
}
