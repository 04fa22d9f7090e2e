import PandoModels
import PandoSystem

/// What a request stands in line for.
struct LaneClaim {
  let name: ByteString
  /// Whether others that share it may go at the same time: those that only name an entity.
  let isShared: Bool

  init(_ name: String, isShared: Bool = false) {
    self.name = ByteString(name)
    self.isShared = isShared
  }
}

/// The order of requests: which of them may go now, and which wait for others.
///
/// Each name is a lane. A request stands in the lane of each of its names and goes when it is let
/// through in all of them; those that share a name go together. Until it is taken, one with an earlier
/// place that comes in later goes before it: so nobody waits for somebody who waits for them. In memory,
/// a few words a request.
struct RequestLanes {
  /// From here on numbers are those of requests that only read.
  static let firstRead: UInt64 = 1 << 63

  private final class Waiter {
    let number: UInt64
    let order: UInt64
    let types: [String]
    var places: [(lane: Lane, isShared: Bool)] = []
    /// In how many lanes others are before it.
    var missing = 0
    var isTaken: Bool
    /// Whether it is on its way or has been: the server may know it, so it never steps back.
    var hasGone: Bool
    var isDone = false

    init(_ number: UInt64, order: UInt64, _ types: [String], isTaken: Bool) {
      (self.number, self.order, self.types) = (number, order, types)
      (self.isTaken, hasGone) = (isTaken, isTaken)
    }
  }

  private final class Lane {
    var names: [ByteString]
    /// First those who were let through, then those who wait, in their order.
    var line = Deque<(waiter: Waiter, isShared: Bool)>()
    /// Where those begin who wait.
    var waiting = 0
    /// How many are let through and not done: alone, and together with others.
    var aloneCount = 0
    var sharedCount = 0
    /// The last place of all who have come.
    var lastOrder: UInt64 = 0

    init(_ names: [ByteString]) { self.names = names }

    func count(_ isShared: Bool, _ difference: Int) {
      if isShared { sharedCount += difference } else { aloneCount += difference }
    }

    /// Forgets those in front who are done.
    func shorten() {
      while waiting > 0, line[0].waiter.isDone {
        line.removeFirst()
        waiting -= 1
      }
    }
  }

  private var lanes: [ByteString: Lane] = [:]
  /// The requests that change entities of a type.
  private var types: [ByteString: Lane] = [:]
  private var waiters: [UInt64: Waiter] = [:]
  /// Those that change something, let through in all their lanes.
  private var ready = Deque<UInt64>()
  /// Those that only read, let through.
  private var readyReads: [UInt64] = []

  var isEmpty: Bool { waiters.isEmpty }

  /// Lets a request wait.
  ///
  /// - Parameters:
  ///   - number: What it is called.
  ///   - order: Its place in line.
  ///   - claims: What it stands in line for.
  ///   - types: Of which types it changes entities.
  ///   - isTaken: Whether it is on its way already.
  mutating func add(
    _ number: UInt64, order: UInt64, _ claims: [LaneClaim], types: [String] = [],
    isTaken: Bool = false
  ) {
    let waiter = Waiter(number, order: order, types, isTaken: isTaken)
    waiters[number] = waiter
    for type in types {
      let lane = Self.lane(of: ByteString(type), in: &self.types)
      forgetDone(lane)
      lane.line.insert((waiter, true), at: place(of: waiter, in: lane, from: 0))
    }
    for claim in claims {
      let lane = Self.lane(of: claim.name, in: &lanes)
      // Two names may have become one.
      if let known = waiter.places.firstIndex(where: { $0.lane === lane }) {
        waiter.places[known].isShared = waiter.places[known].isShared && claim.isShared
      } else {
        waiter.places.append((lane, claim.isShared))
      }
    }
    for (lane, isShared) in waiter.places { enter(waiter, lane, isShared) }
    if waiter.places.isEmpty, !isTaken { offer(number) }
  }

  /// Takes a request out of all lanes, whether it was let through or not.
  mutating func finish(_ number: UInt64) {
    guard let waiter = waiters.removeValue(forKey: number) else { return }
    waiter.isDone = true
    for (lane, isShared) in waiter.places {
      if waiter.missing == 0 {
        lane.count(isShared, -1)
      } else if let index = lane.line.firstIndex(where: { $0.waiter === waiter }) {
        if index < lane.waiting {
          lane.count(isShared, -1)
          lane.waiting -= 1
        }
        lane.line.remove(at: index)
      }
      letThrough(lane)
      if lane.line.isEmpty { for name in lane.names { lanes[name] = nil } }
    }
    waiter.places = []
  }

  /// Lets two names be one from now on: who stands in line for one of them does for the other.
  mutating func rename(_ old: String, to new: String) {
    let (old, new) = (ByteString(old), ByteString(new))
    guard let lane = lanes[old] else { return }
    guard let other = lanes[new] else {
      lane.names.append(new)
      lanes[new] = lane
      return
    }
    guard other !== lane else { return }
    var standing: [UInt64: Waiter] = [:]
    for (waiter, _) in lane.line + other.line where !waiter.isDone {
      standing[waiter.number] = waiter
    }
    for name in other.names { lanes[name] = lane }
    lane.names += other.names
    (lane.line, lane.waiting) = (Deque(), 0)
    (lane.aloneCount, lane.sharedCount, lane.lastOrder) = (0, 0, 0)
    // Nobody but who is on the way has been let through here: that is found out anew.
    let order = { (waiter: Waiter) in waiter.hasGone ? 0 : waiter.order }
    for waiter in standing.values.ordered(by: { order($0) < order($1) }) {
      let isShared = waiter.places.allSatisfy {
        $0.isShared || $0.lane !== lane && $0.lane !== other
      }
      waiter.places.removeAll { $0.lane === lane || $0.lane === other }
      waiter.missing = waiter.hasGone ? 0 : waiter.places.count { !isThrough(waiter, $0.lane) }
      waiter.places.append((lane, isShared))
      enter(waiter, lane, isShared)
    }
  }

  /// Whether a request has been let through in a lane.
  private func isThrough(_ waiter: Waiter, _ lane: Lane) -> Bool {
    lane.line[..<lane.waiting].contains { $0.waiter === waiter }
  }

  /// Takes the requests that only read and may go.
  mutating func takeReads() -> [UInt64] {
    defer { readyReads = [] }
    return readyReads.filter { takes($0) }
  }

  /// Takes a request that changes something and may go; `nil` if there is none.
  mutating func take() -> UInt64? {
    while let number = ready.popFirst() {
      if takes(number) { return number }
    }
    return nil
  }

  /// One that was let through may have had to step back for another one.
  private func takes(_ number: UInt64) -> Bool {
    guard let waiter = waiters[number], waiter.missing == 0, !waiter.isTaken else { return false }
    waiter.isTaken = true
    waiter.hasGone = true
    return true
  }

  /// Whether a request stands in line or is on its way.
  func contains(_ number: UInt64) -> Bool { waiters[number] != nil }

  /// Whether a request was taken and has not come back.
  func hasGone(_ number: UInt64) -> Bool { waiters[number]?.isTaken == true }

  /// Lets a request that was taken go once more, before all others.
  mutating func putBack(_ number: UInt64) {
    guard let waiter = waiters[number], waiter.isTaken else { return }
    waiter.isTaken = false
    ready.prepend(number)
  }

  /// Whether entities of a type are changed by a request before a place in line.
  mutating func changes(_ type: String, before order: UInt64) -> Bool {
    guard let lane = types[ByteString(type)] else { return false }
    forgetDone(lane)
    return lane.line.first.map { $0.waiter.order < order } ?? false
  }

  /// The requests that stand in line for some names, later than one of them.
  func numbers(after number: UInt64, at names: [String]) -> [UInt64] {
    guard let first = waiters[number] else { return [] }
    var found: Set<UInt64> = []
    for name in names {
      guard let lane = lanes[ByteString(name)] else { continue }
      for (waiter, _) in lane.line
      where waiter.order > first.order && !waiter.isDone && waiter.number < Self.firstRead {
        found.insert(waiter.number)
      }
    }
    return found.ordered()
  }

  /// The next request behind one, in each of the lines for some names.
  func nextNumbers(after number: UInt64, at names: [String]) -> [UInt64] {
    guard let first = waiters[number] else { return [] }
    return names.compactMap { name in
      guard let lane = lanes[ByteString(name)] else { return nil }
      return lane.line.lazy.map(\.0).first { waiter in
        waiter.order > first.order && !waiter.isDone && waiter.number < Self.firstRead
      }?.number
    }.unique.ordered()
  }

  /// Some requests, and who waits for them, directly or behind others that do.
  func stalled(by numbers: [UInt64]) -> Set<UInt64> {
    var found = Set(numbers)
    var next = numbers.compactMap { waiters[$0] }
    while let waiter = next.popLast() {
      for (lane, _) in waiter.places {
        for (other, _) in lane.line[lane.waiting...]
        where other.order > waiter.order && found.insert(other.number).inserted {
          next.append(other)
        }
      }
    }
    return found
  }

  /// Whether one of some requests changes entities of a type, and stands before a place in line.
  func changes(_ type: String, before order: UInt64, among numbers: Set<UInt64>) -> Bool {
    numbers.contains { number in
      guard let waiter = waiters[number], waiter.order < order else { return false }
      return waiter.types.contains { $0.hasSameBytes(as: type) }
    }
  }

  /// Lets a request stand in a lane; those who were let through and have later places step back.
  private mutating func enter(
    _ waiter: Waiter, _ lane: Lane, _ isShared: Bool
  ) {
    if waiter.hasGone {
      lane.line.insert((waiter, isShared), at: lane.waiting)
      lane.waiting += 1
      lane.count(isShared, 1)
      return
    }
    waiter.missing += 1
    let index = place(of: waiter, in: lane, from: lane.waiting)
    if waiter.order > lane.lastOrder || index > lane.waiting {
      lane.line.insert((waiter, isShared), at: index)
    } else {
      let through = lane.line[..<lane.waiting].filter { !$0.waiter.isDone }
      let back = through.filter { !$0.waiter.hasGone && $0.waiter.order > waiter.order }
      let kept = through.filter { $0.waiter.hasGone || $0.waiter.order <= waiter.order }
      for place in back {
        lane.count(place.isShared, -1)
        place.waiter.missing += 1
      }
      let behind = back.ordered { $0.waiter.order < $1.waiter.order }
      lane.line.replaceSubrange(..<lane.waiting, with: kept + [(waiter, isShared)] + behind)
      lane.waiting = kept.count
    }
    lane.lastOrder = max(lane.lastOrder, waiter.order)
    letThrough(lane)
  }

  /// Where a request belongs among those who wait.
  private func place(of waiter: Waiter, in lane: Lane, from start: Int) -> Int {
    var place = lane.line.count
    while place > start, lane.line[place - 1].waiter.order > waiter.order { place -= 1 }
    return place
  }

  private mutating func letThrough(_ lane: Lane) {
    while lane.waiting < lane.line.count {
      let (waiter, isShared) = lane.line[lane.waiting]
      guard lane.aloneCount == 0, isShared || lane.sharedCount == 0 else { break }
      lane.waiting += 1
      lane.count(isShared, 1)
      waiter.missing -= 1
      if waiter.missing == 0 { offer(waiter.number) }
    }
    lane.shorten()
  }

  /// Forgets the requests in front of a type's line that are done.
  private func forgetDone(_ lane: Lane) {
    while lane.line.first?.waiter.isDone == true { lane.line.removeFirst() }
    lane.waiting = 0
  }

  private mutating func offer(_ number: UInt64) {
    if number >= Self.firstRead { readyReads.append(number) } else { ready.append(number) }
  }

  private static func lane(of name: ByteString, in lanes: inout [ByteString: Lane]) -> Lane {
    if let lane = lanes[name] { return lane }
    let lane = Lane([name])
    lanes[name] = lane
    return lane
  }
}
