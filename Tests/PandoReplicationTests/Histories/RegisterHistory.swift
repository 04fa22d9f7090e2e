/// What was done to one register, and when, as those saw it who did it.
struct RegisterHistory {
  enum Action: Hashable {
    case write(Int)
    case read(Int?)
  }

  struct Operation {
    var action: Action
    /// When it was called and when it returned, by one clock; never, for a write of which nobody knows.
    var called: Int
    var returned: Int
  }

  private(set) var operations: [Operation] = []

  mutating func add(_ action: Action, called: Int, returned: Int = .max) {
    operations.append(Operation(action: action, called: called, returned: returned))
  }

  /// Whether some order explains all: each operation takes effect at once, between its call and its return.
  ///
  /// The search of Wing and Gong, with the memory of Lowe: it takes what may come next, and goes back where a
  /// read does not fit.
  var isLinearizable: Bool {
    precondition(operations.count <= 64, "a bit for each operation")
    var seen: Set<State> = []
    var states = [State(rest: operations.isEmpty ? 0 : ~0 >> UInt64(64 - operations.count))]
    while let state = states.popLast() {
      let rest = operations.indices.filter { state.rest & 1 << UInt64($0) != 0 }
      let firstReturn = rest.map { operations[$0].returned }.min() ?? .max
      // What never returned needs not have happened.
      if firstReturn == .max { return true }
      guard seen.insert(state).inserted else { continue }
      for index in rest where operations[index].called < firstReturn {
        var next = state
        next.rest &= ~(1 << UInt64(index))
        switch operations[index].action {
        case .write(let value): next.value = value
        case .read(let value): if value != state.value { continue }
        }
        states.append(next)
      }
    }
    return false
  }

  private struct State: Hashable {
    /// The operations that are left, a bit each.
    var rest: UInt64
    var value: Int?
  }
}
