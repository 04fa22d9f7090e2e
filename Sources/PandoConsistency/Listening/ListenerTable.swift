/// The holders of listeners, by listener.
struct ListenerTable {
  private(set) var holders: [ObjectIdentifier: ListenerHolder] = [:]
  /// How many may come before the next search for dead ones.
  private var untilSweep = 64

  func holder(of listener: AnyObject) -> ListenerHolder? {
    guard let holder = holders[ObjectIdentifier(listener)], holder.listener === listener else {
      return nil
    }
    return holder
  }

  /// Keeps a holder.
  ///
  /// - Returns: The one of a dead listener that had the same address.
  mutating func insert(_ holder: ListenerHolder, for listener: AnyObject) -> ListenerHolder? {
    untilSweep -= 1
    return holders.updateValue(holder, forKey: ObjectIdentifier(listener))
  }

  mutating func remove(_ listener: AnyObject) -> ListenerHolder? {
    guard holder(of: listener) != nil else { return nil }
    return holders.removeValue(forKey: ObjectIdentifier(listener))
  }

  mutating func remove(_ holder: ListenerHolder) {
    // A dead listener has no address: looked for by the holder itself.
    if let entry = holders.first(where: { $0.value === holder }) { holders[entry.key] = nil }
  }

  /// Whether so many came since the last search that dead ones are worth another.
  var isSweepDue: Bool { untilSweep <= 0 }

  /// Takes the holders of dead listeners out.
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
