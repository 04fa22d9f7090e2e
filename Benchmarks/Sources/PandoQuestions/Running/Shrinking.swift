extension Plan {
  /// Simpler plans, the simplest first.
  func simpler(keeping asked: Int) -> [Plan] {
    var plans: [Plan] = []
    // The other process has the plan of the seed.
    if writer == .otherProcess {
      var plan = self
      plan.writer = .none
      return [plan]
    }
    func add(_ change: (inout Plan) -> Void) {
      var plan = self
      change(&plan)
      plans.append(plan)
    }
    if self.asked.count > 1 {
      if self.asked.indices.contains(asked) { add { $0.asked = [$0.asked[asked]] } }
      for index in self.asked.indices { add { $0.asked.remove(at: index) } }
    }
    if writer != .none { add { $0.writer = .none } }
    if commits.count > 3 {
      add { $0.commits.removeFirst($0.commits.count / 2) }
      add { $0.commits.removeLast($0.commits.count / 2) }
    }
    if start.count > 3 {
      add { $0.start.removeFirst($0.start.count / 2) }
      add { $0.start.removeLast($0.start.count / 2) }
    }
    if laterIndexes != nil { add { $0.laterIndexes = nil } }
    if indexes.count > 1 { add { $0.indexes = [] } }
    for index in commits.indices.reversed() { add { $0.commits.remove(at: index) } }
    for index in start.indices.reversed() { add { $0.start.remove(at: index) } }
    for index in indexes.indices.reversed() { add { $0.indexes.remove(at: index) } }
    for index in commits.indices where commits[index].count > 1 {
      for place in commits[index].indices { add { $0.commits[index].remove(at: place) } }
    }
    for index in self.asked.indices {
      for simpler in self.asked[index].simpler { add { $0.asked[index] = simpler } }
    }
    for index in start.indices {
      for simpler in start[index].simpler { add { $0.start[index] = simpler } }
    }
    return plans
  }
}

extension Plan.Asked {
  fileprivate var simpler: [Plan.Asked] {
    var all: [Plan.Asked] = []
    func add(_ change: (inout Plan.Asked) -> Void) {
      var asked = self
      change(&asked)
      all.append(asked)
    }
    for condition in selection.condition.simpler { add { $0.selection.condition = condition } }
    for index in selection.order.indices { add { $0.selection.order.remove(at: index) } }
    if start != 1 { add { $0.start = 1 } }
    if every != 1 { add { $0.every = 1 } }
    if selection.offset > 0 { add { $0.selection.offset = 0 } }
    if selection.limit != nil { add { $0.selection.limit = nil } }
    if selection.uniqueBy != nil { add { $0.selection.uniqueBy = nil } }
    switch delivery {
    case .changes, .keys: add { $0.delivery = .items }
    default: break
    }
    if asking != nil {
      if asking?.having != nil { add { $0.asking?.having = nil } }
      if case .dictionary = asking?.form {} else { add { $0.asking?.form = .dictionary } }
      if asking?.grouping != Grouping.none {
        add {
          $0.asking?.grouping = .none
          $0.asking?.form = .dictionary
          $0.asking?.having = nil
        }
      }
      if case .count = asking?.measure {} else { add { $0.asking?.measure = .count } }
    }
    return all
  }
}

extension Condition {
  fileprivate var simpler: [Condition] {
    switch self {
    case .all: []
    case .and(let one, let other):
      [.all, one, other] + one.simpler.map { .and($0, other) } + other.simpler.map { .and(one, $0) }
    case .or(let one, let other):
      [.all, one, other] + one.simpler.map { .or($0, other) } + other.simpler.map { .or(one, $0) }
    case .not(let other): [.all, other] + other.simpler.map { .not($0) }
    default: [.all]
    }
  }
}

extension Draft {
  fileprivate var simpler: [Draft] {
    var all: [Draft] = []
    func add(_ isSet: Bool, _ change: (inout Draft) -> Void) {
      if !isSet { return }
      var draft = self
      change(&draft)
      all.append(draft)
    }
    add(!parts.isEmpty) { $0.parts.removeLast() }
    add(!tags.isEmpty) { $0.tags.removeLast() }
    add(!helpers.isEmpty) { $0.helpers.removeLast() }
    add(owner != nil) { $0.owner = nil }
    add(note != nil) { $0.note = nil }
    add(rate != nil) { $0.rate = nil }
    add(due != nil) { $0.due = nil }
    add(code != nil) { $0.code = nil }
    add(level != nil) { $0.level = nil }
    return all
  }
}
