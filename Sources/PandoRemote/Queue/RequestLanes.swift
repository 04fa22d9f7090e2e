import PandoModels
import PandoSystem

/// A lane that a request needs.
struct LaneClaim {
  let name: ByteString
  /// Whether requests that share it may be sent at the same time: those that only name an entity.
  let isShared: Bool

  init(_ name: String, isShared: Bool = false) {
    self.name = ByteString(name)
    self.isShared = isShared
  }
}

/// The order of requests: which of them may be sent now, and which wait for others.
///
/// Each name has a lane. A request waits in the lane of each of its names, and may be sent when all have let it
/// through. Requests that share a name are let through together. Until a request is taken, it steps back for one with
/// an earlier order that is added later, so no two requests wait for each other.
struct RequestLanes {
  /// The number of the first read; durable requests have smaller numbers.
  static let firstRead: UInt64 = 1 << 63

  private final class Waiter {
    let number: UInt64
    let order: UInt64
    let types: [String]
    /// Whether its row has the state that it replaced.
    let hasUndo: Bool
    var places: [(lane: Lane, isShared: Bool)] = []
    /// The number of lanes that have not let it through.
    var missing = 0
    var isTaken: Bool
    /// Whether it is or was in flight: the server may have received it, so it never steps back.
    var hasGone: Bool
    var isDone = false

    init(
      _ number: UInt64, order: UInt64, _ types: [String], hasUndo: Bool, isTaken: Bool
    ) {
      (self.number, self.order, self.types) = (number, order, types)
      self.hasUndo = hasUndo
      (self.isTaken, hasGone) = (isTaken, isTaken)
    }
  }

  private final class Lane {
    var names: [ByteString]
    /// The requests that were let through, then those that wait, in their order.
    var line = Deque<(waiter: Waiter, isShared: Bool)>()
    /// The index of the first one that waits.
    var waiting = 0
    /// The numbers of exclusive and of shared requests that were let through and are not done.
    var aloneCount = 0
    var sharedCount = 0
    /// The last order of all requests that were added.
    var lastOrder: UInt64 = 0

    init(_ names: [ByteString]) { self.names = names }

    func count(_ isShared: Bool, _ difference: Int) {
      if isShared { sharedCount += difference } else { aloneCount += difference }
    }

    /// Removes done requests from the front.
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
  /// The durable requests that all their lanes have let through.
  private var ready = Deque<UInt64>()
  /// The reads that all their lanes have let through.
  private var readyReads: [UInt64] = []

  var isEmpty: Bool { waiters.isEmpty }

  /// Adds a request.
  ///
  /// - Parameters:
  ///   - number: Its number.
  ///   - order: Its order.
  ///   - claims: The lanes that it needs.
  ///   - types: The namespaces of the entities that it changes.
  ///   - hasUndo: Whether its row has the state that it replaced.
  ///   - isTaken: Whether it is already in flight.
  mutating func add(
    _ number: UInt64, order: UInt64, _ claims: [LaneClaim], types: [String] = [],
    hasUndo: Bool = false, isTaken: Bool = false
  ) {
    let waiter = Waiter(number, order: order, types, hasUndo: hasUndo, isTaken: isTaken)
    waiters[number] = waiter
    for type in types {
      let lane = Self.lane(of: ByteString(type), in: &self.types)
      forgetDone(lane)
      lane.line.insert((waiter, true), at: place(of: waiter, in: lane, from: 0))
    }
    for claim in claims {
      let lane = Self.lane(of: claim.name, in: &lanes)
      // Two names may have one lane.
      if let known = waiter.places.firstIndex(where: { $0.lane === lane }) {
        waiter.places[known].isShared = waiter.places[known].isShared && claim.isShared
      } else {
        waiter.places.append((lane, claim.isShared))
      }
    }
    for (lane, isShared) in waiter.places { enter(waiter, lane, isShared) }
    if waiter.places.isEmpty, !isTaken { offer(number) }
    checkInvariants()
  }

  /// Removes a request from all lanes, whether it was let through or not.
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
    checkInvariants()
  }

  /// Merges the lanes of two names; both names then have the same lane.
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
    // Only requests that are or were on their way stay let through; the others enter the lane again.
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
    checkInvariants()
  }

  /// Whether a lane has let a request through.
  private func isThrough(_ waiter: Waiter, _ lane: Lane) -> Bool {
    lane.line[..<lane.waiting].contains { $0.waiter === waiter }
  }

  /// Takes the reads that may be sent.
  mutating func takeReads() -> [UInt64] {
    defer { readyReads = [] }
    return readyReads.filter { takes($0) }
  }

  /// Takes a durable request that may be sent; `nil` if there is none.
  mutating func take() -> UInt64? {
    while let number = ready.popFirst() {
      if takes(number) { return number }
    }
    return nil
  }

  /// Takes a request, unless it has stepped back since it was let through.
  private func takes(_ number: UInt64) -> Bool {
    guard let waiter = waiters[number], waiter.missing == 0, !waiter.isTaken else { return false }
    waiter.isTaken = true
    waiter.hasGone = true
    return true
  }

  /// Whether a request waits or is in flight.
  func contains(_ number: UInt64) -> Bool { waiters[number] != nil }

  /// Whether a request was taken and not put back.
  func hasGone(_ number: UInt64) -> Bool { waiters[number]?.isTaken == true }

  /// Makes a taken request ready again, before all others.
  mutating func putBack(_ number: UInt64) {
    guard let waiter = waiters[number], waiter.isTaken else { return }
    waiter.isTaken = false
    ready.prepend(number)
  }

  /// Whether a request with an earlier order changes entities of a type.
  mutating func changes(_ type: String, before order: UInt64) -> Bool {
    guard let lane = types[ByteString(type)] else { return false }
    forgetDone(lane)
    return lane.line.first.map { $0.waiter.order < order } ?? false
  }

  /// The durable requests behind one in the lanes of some names.
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

  /// The durable requests behind one that may have replaced what its answer contains.
  ///
  /// These are in each lane the next request that does not share it, and those with an undo up to the first of them
  /// that does not share it.
  ///
  /// - Parameters:
  ///   - number: The request.
  ///   - names: The names of its lanes.
  ///   - keepsAnswer: Whether those with an undo are wanted.
  /// - Returns: The numbers, ascending.
  func nextNumbers(
    after number: UInt64, at names: [String], keepsAnswer: Bool
  ) -> [UInt64] {
    guard let first = waiters[number] else { return [] }
    var found: Set<UInt64> = []
    for name in names {
      guard let lane = lanes[ByteString(name)] else { continue }
      var isNext = true
      for (waiter, isShared) in lane.line
      where waiter.order > first.order && !waiter.isDone && waiter.number < Self.firstRead {
        if waiter.hasUndo || isNext && !isShared { found.insert(waiter.number) }
        if isShared { continue }
        if waiter.hasUndo || !keepsAnswer { break }
        isNext = false
      }
    }
    return found.ordered()
  }

  /// Some requests, and those that wait for them, directly or behind others.
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

  /// Whether one of some requests has an earlier order and changes entities of a type.
  func changes(_ type: String, before order: UInt64, among numbers: Set<UInt64>) -> Bool {
    numbers.contains { number in
      guard let waiter = waiters[number], waiter.order < order else { return false }
      return waiter.types.contains { $0.hasSameBytes(as: type) }
    }
  }

  /// Adds a request to a lane; requests with a later order that were let through and not sent step back.
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

  /// The index in a lane at which a request belongs by its order.
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

  /// Removes done requests from the front of a type's lane.
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

extension RequestLanes {
  /// With ``InternalChecks``, stops the process if lanes and requests do not fit together.
  ///
  /// - Complexity: O(*p*) for *p* places of all requests.
  private func checkInvariants() {
    if InternalChecks.areOn {
      for (name, lane) in lanes {
        precondition(lane.names.contains(name), "the lane of \(name.text) has another name")
        check(lane, name.text)
      }
      for (number, waiter) in waiters {
        precondition(waiter.number == number && !waiter.isDone, "request \(number) is done")
        for (lane, _) in waiter.places {
          precondition(
            lane.line.contains { $0.waiter === waiter }, "request \(number) is in no place")
        }
        let missing = waiter.places.count { !isThrough(waiter, $0.lane) }
        precondition(
          missing == waiter.missing,
          "request \(number) waits in \(missing) lanes, and counts \(waiter.missing)")
        if missing == 0, !waiter.isTaken {
          precondition(
            ready.contains(number) || readyReads.contains(number),
            "request \(number) may be sent, and is not offered")
        }
      }
    }
  }

  private func check(_ lane: Lane, _ name: String) {
    precondition(!lane.line.isEmpty, "the lane of \(name) is empty")
    let through = lane.line[..<lane.waiting].filter { !$0.waiter.isDone }
    let waiting = lane.line[lane.waiting...]
    precondition(
      lane.aloneCount == through.count { !$0.isShared }
        && lane.sharedCount == through.count { $0.isShared },
      "the lane of \(name) has let \(through.count) through, and counts \(lane.aloneCount) "
        + "and \(lane.sharedCount)")
    precondition(
      waiting.allSatisfy { !$0.waiter.isDone && !$0.waiter.hasGone },
      "a request that has gone waits in the lane of \(name)")
    if let next = waiting.first {
      precondition(
        lane.aloneCount > 0 || !next.isShared && lane.sharedCount > 0,
        "request \(next.waiter.number) waits in the lane of \(name) for nothing")
    }
    if !through.contains(where: { $0.waiter.hasGone }), lane.aloneCount > 0 {
      precondition(through.count == 1, "the lane of \(name) has let others through too")
    }
  }
}
