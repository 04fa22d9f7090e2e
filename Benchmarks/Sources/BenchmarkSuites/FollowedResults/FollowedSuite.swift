import Pando

/// Thrown if a followed answer is not the asked one.
private struct WrongAnswer: Error {}

/// Commits while queries are followed.
///
/// There is no other system to compare with. A commit must cost what the queries cost
/// that it concerns, however many others are followed.
struct FollowedSuite {
  private let runner: Runner

  init(_ runner: Runner) { self.runner = runner }

  /// Measures everything.
  func run() throws {
    let sizes = [1, 100, 10_000].prefix(runner.options.scaled(smoke: 2, standard: 3))
    let commits = runner.options.scaled(smoke: 100, standard: 5_000)
    try measure("followed-0", "of an entity that no query follows", [], commits, concerned: 0)
    for size in sizes {
      try measure(
        "one-of-\(size)", "that concerns one of so many followed queries",
        (0..<size).map { Query(filter: \Sensor.room == $0) }, commits, concerned: 1,
        series: Workload.Series(name: "one-of", unit: "queries", size: size))
      try measure(
        "all-of-\(size)", "that concerns all of so many followed queries",
        (0..<size).map { Query(filter: \Sensor.degrees > -1 - $0) },
        max(10, commits / max(1, size / 10)), concerned: size,
        series: Workload.Series(name: "all-of", unit: "queries", size: size))
    }
    compare(
      "one-of-10000", "one-of-1",
      "processor time of a commit that concerns one of 10 000 queries : the only", goal: 1.5)
    try measureConjunctions()
    try measureForms()
    try measureMoves()
    try measureAnswers()
    try measureDelivery()
    try measureRelated()
    for size in [100, 10_000].prefix(runner.options.scaled(smoke: 1, standard: 2)) {
      try measureBulk(size)
    }
  }

  private func measure(
    _ name: String, _ commit: String, _ queries: [Query<Sensor>], _ count: Int, concerned: Int,
    series: Workload.Series? = nil
  ) throws {
    let durability = runner.options.durability(default: .unsynchronized)
    func sensor(_ number: Int) -> Sensor { Sensor(id: .remote(0), room: 0, degrees: number) }
    try runner.measure(
      Workload(
        name: name, operation: "commit of a change \(commit)",
        parameters: ["queries": queries.count, "operations": count], durability: durability,
        series: series,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let sensors = try FollowedEntities(directory, durability, [sensor(0)])
            try sensors.follow(queries)
            return try .time(
              count, in: directory,
              { latencies in
                for number in 1...count {
                  try latencies.time { try sensors.change(sensor(number)) }
                }
                try sensors.waitUntilShown()
                return 0
              }, checksum: { try sensors.checksum(of: concerned) { $0.degrees } })
          }
        ]))
  }

  /// Commits that change the answer to a followed question.
  private func measureAnswers() throws {
    let entityCount = runner.options.scaled(smoke: 500, standard: 100_000, large: 1_000_000)
    let count = runner.options.scaled(smoke: 100, standard: 5_000)
    typealias Entities = FollowedEntities<Sensor>
    let open = Query(filter: \Sensor.degrees >= 0)
    let questions: [(name: String, groupCount: Int, follow: (Entities) throws -> Void)] = [
      ("0", 10, { _ in }),
      ("count", 10, { try $0.follow(.count, of: open) }),
      ("sum", 10, { try $0.follow(.sum(\.degrees), of: open) }),
      ("max", 10, { try $0.follow(.max(\.degrees), of: open) }),
      ("sum-by-10", 10, { try $0.follow(.sum(\.degrees).grouped(by: \.room), of: open) }),
      (
        "sum-by-\(entityCount)", entityCount,
        { try $0.follow(.sum(\.degrees).grouped(by: \.room), of: open) }
      ),
      (
        "top-20-of-10", 10, { try $0.follow(.sum(\.degrees).grouped(by: \.room).top(20), of: open) }
      ),
      (
        "top-20-of-\(entityCount)", entityCount,
        { try $0.follow(.sum(\.degrees).grouped(by: \.room).top(20), of: open) }
      ),
      ("median", 10, { try $0.follow(.median(\.degrees), of: open) }),
    ]
    let durability = runner.options.durability(default: .unsynchronized)
    try runner.measure(
      questions.map { question in
        func sensor(_ number: Int, _ degrees: Int) -> Sensor {
          Sensor(id: .remote(number), room: number % question.groupCount, degrees: degrees)
        }
        return Workload(
          name: "answer-\(question.name)",
          operation: "commit of a change that a followed answer counts: \(question.name)",
          parameters: ["entities": entityCount, "operations": count], durability: durability,
          contenders: [
            Workload.Contender(.pando) {
              let directory = try runner.makeDirectory()
              let followed = try Entities(
                directory, durability, (0..<entityCount).map { sensor($0, $0 % 100) })
              try question.follow(followed)
              return try .time(
                count, in: directory,
                { latencies in
                  for number in 0..<count {
                    // In and out of the filter, and other numbers.
                    let new = sensor(number % 1_000, number % 3 == 0 ? -1 : number % 77)
                    try latencies.time { try followed.change(new) }
                  }
                  try followed.waitUntilShown()
                  return 0
                },
                checksum: {
                  let right = try followed.rightAnswerCount()
                  guard right == (question.name == "0" ? 0 : 1) else { throw WrongAnswer() }
                  return right
                })
            }
          ])
      })
    for question in questions.dropFirst() {
      compare(
        "answer-\(question.name)", "answer-0",
        "processor time of a commit beside a followed answer : beside none", goal: 1.1)
    }
  }

  /// The time from a write to the answer that a task has.
  private func measureDelivery() throws {
    let entityCount = runner.options.scaled(smoke: 500, standard: 100_000, large: 1_000_000)
    let count = runner.options.scaled(smoke: 100, standard: 5_000)
    let durability = runner.options.durability(default: .unsynchronized)
    try runner.measure(
      Workload(
        name: "delivered-sum",
        operation: "write of a change, until a task has the new sum of all entities",
        parameters: ["entities": entityCount, "operations": count], durability: durability,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let sensors = try FollowedEntities(
              directory, durability,
              (0..<entityCount).map { Sensor(id: .remote($0), room: $0 % 10, degrees: $0 % 100) })
            sensors.deliver(.sum(\.degrees))
            return try .time(
              count, in: directory,
              { latencies in
                for number in 0..<count {
                  // Each sum differs from the one before.
                  let new = Sensor(id: .remote(number % 1_000), room: 0, degrees: 100 + number)
                  try latencies.time { try sensors.changeAndWait(new) }
                }
                return 0
              },
              checksum: {
                guard try sensors.rightAnswerCount() == 1 else { throw WrongAnswer() }
                return 1
              })
          }
        ]))
  }

  /// Commits that move one row of a long ordered result, whose changes a task takes.
  private func measureMoves() throws {
    let durability = runner.options.durability(default: .unsynchronized)
    let rowCount = runner.options.scaled(smoke: 500, standard: 100_000)
    let count = runner.options.scaled(smoke: 20, standard: 3_000)
    let ordered = Query<Sensor>(order: [.ascending(\.degrees)])
    let deep = Query<Sensor>(order: [.ascending(\.degrees)], offset: rowCount - 20, limit: 20)
    let forms: [(name: String, query: Query<Sensor>?)] = [
      ("none", nil), ("all", ordered), ("deep", deep),
    ]
    try runner.measure(
      forms.map { form in
        Workload(
          name: "moves-\(form.name)",
          operation: "commit that moves a row of \(rowCount) ordered ones; followed: \(form.name)",
          parameters: ["entities": rowCount, "operations": count], durability: durability,
          contenders: [
            Workload.Contender(.pando) {
              let directory = try runner.makeDirectory()
              let sensors = try FollowedEntities(
                directory, durability,
                (0..<rowCount).map { Sensor(id: .remote($0), room: 0, degrees: $0) })
              if let query = form.query { try sensors.followChanges(of: query) }
              return try .time(
                count, in: directory,
                { latencies in
                  for number in 0..<count {
                    let moved = Sensor(
                      id: .remote(number), room: 0, degrees: (number * 7_919) % rowCount)
                    try latencies.time { try sensors.change(moved) }
                  }
                  try sensors.waitUntilShown()
                  return 0
                }, checksum: { UInt64(count) })
            }
          ])
      })
    for form in forms.dropFirst() {
      guard let followed = runner.entry(.pando, in: "moves-\(form.name)"),
        let none = runner.entry(.pando, in: "moves-none")
      else { continue }
      runner.add(
        Comparison(
          name: "continuous/moves-\(form.name)",
          title: "continuous, processor time of a move for a followed result, \(form.name)",
          value: (followed.processorNanosecondsPerOperation - none.processorNanosecondsPerOperation)
            / 1e3,
          unit: "µs", goal: .atMost(20)))
    }
  }

  /// Commits that change the answer for one element of a followed list.
  private func measureRelated() throws {
    let durability = runner.options.durability(default: .unsynchronized)
    let roomCount = runner.options.scaled(smoke: 50, standard: 1_000)
    let count = runner.options.scaled(smoke: 20, standard: 10_000)
    try runner.measure(
      RelatedList.Followed.allCases.map { followed in
        Workload(
          name: "related-\(followed)",
          operation:
            "commit of a reading in one of \(roomCount) rooms; followed: \(followed.text)",
          parameters: ["entities": roomCount * 100, "operations": count], durability: durability,
          contenders: [
            Workload.Contender(.pando) {
              let directory = try runner.makeDirectory()
              let list = try RelatedList(directory, durability, roomCount: roomCount)
              try list.follow(followed)
              return try .time(
                count, in: directory,
                { latencies in
                  for number in 0..<count { try latencies.time { try list.change(number) } }
                  try list.waitUntilShown()
                  return 0
                }, checksum: { UInt64(count) })
            }
          ])
      })
    for followed in RelatedList.Followed.allCases.dropFirst() {
      guard let related = runner.entry(.pando, in: "related-\(followed)"),
        let none = runner.entry(.pando, in: "related-none")
      else { continue }
      runner.add(
        Comparison(
          name: "continuous/related-\(followed)",
          title: "continuous, processor time of a change of one element, \(followed.text)",
          value: (related.processorNanosecondsPerOperation - none.processorNanosecondsPerOperation)
            / 1e3,
          unit: "µs", goal: .atMost(5)))
    }
  }

  /// One commit that changes many entities of a followed query.
  private func measureBulk(_ size: Int) throws {
    let durability = runner.options.durability(default: .unsynchronized)
    let entityCount = runner.options.scaled(smoke: 500, standard: 50_000)
    let count = runner.options.scaled(smoke: 2, standard: 5)
    func sensor(_ number: Int, _ degrees: Int) -> Sensor {
      Sensor(id: .remote(number), room: number, degrees: degrees % entityCount)
    }
    try runner.measure(
      Workload(
        name: "bulk-\(size)",
        operation:
          "commit that changes the places of \(size) of \(entityCount) entities of a followed "
          + "query, until the query shows them",
        parameters: ["entities": entityCount, "operations": count], durability: durability,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let followed = try FollowedEntities(
              directory, durability, (0..<entityCount).map { sensor($0, $0) })
            try followed.follow([Query(order: [.ascending(\.degrees)])])
            return try .time(
              count, in: directory,
              { latencies in
                for round in 1...count {
                  try latencies.time {
                    try followed.change((0..<size).map { sensor($0, $0 * 7_919 + round) })
                    try followed.waitUntilShown()
                  }
                }
                return 0
              }, checksum: { try followed.checksum(of: 1) { $0.degrees } })
          }
        ]))
  }

  /// Queries with two conditions: one names an assignee, the other holds for half of all entities.
  private func measureConjunctions() throws {
    let most = runner.options.scaled(smoke: 10, standard: 1_000)
    let orders: [(name: String, text: String, filter: @Sendable (Int) -> Filter<Job>)] = [
      ("assignee-state", "assignee == u && state == .open", Job.assigneeThenState),
      ("state-assignee", "state == .open && assignee == u", Job.stateThenAssignee),
    ]
    try runner.measure(
      orders.flatMap { order in
        [1, most].map { size in
          conjunction(
            "\(order.name)-\(size)", order.text, (0..<size).map { Query(filter: order.filter($0)) },
            runner.options.scaled(smoke: 20, standard: 1_000))
        }
      })
    for order in orders {
      runner.compare(
        "\(order.name)-\(most)", with: "\(order.name)-1",
        "time of a commit that concerns one of \(most) queries (\(order.text)) : the only one",
        goal: .atMost(1.2))
    }
  }

  /// Queries of all forms that are found without a visit to each of them: ranges, prefixes, sets, alternatives and
  /// orders with a limit.
  private func measureForms() throws {
    let most = runner.options.scaled(smoke: 10, standard: 10_000)
    let forms: [@Sendable (Int) -> Query<Job>] = [
      { Query(filter: \.assignee >= $0 && \.assignee < $0 + 1) },
      { Query(filter: .hasPrefix(\.title, "Job number \($0 * 4)")) },
      { Query(filter: .isIn(\.assignee, [$0, -1, -2])) },
      { Query(filter: \.assignee == $0 || .hasPrefix(\.title, "Work \($0) ")) },
      {
        Query(
          filter: \.assignee >= $0 && \.assignee < $0 + 1, order: [.ascending(\.effort)], limit: 2)
      },
    ]
    try runner.measure(
      [1, most].map { size in
        conjunction(
          "forms-\(size)", "of five forms",
          (0..<size).map { forms[$0 % forms.count]($0) },
          runner.options.scaled(smoke: 20, standard: 1_000))
      })
    compare(
      "forms-\(most)", "forms-1",
      "processor time of a commit that concerns one of \(most) queries of five forms : the only",
      goal: 1.5)
  }

  private func conjunction(
    _ name: String, _ filter: String, _ queries: [Query<Job>], _ count: Int
  ) -> Workload {
    let durability = runner.options.durability(default: .unsynchronized)
    // As many entities for one query as for many, so that the store is the same.
    let jobs = Job.make(assigneeCount: runner.options.scaled(smoke: 10, standard: 1_000))
    return Workload(
      name: name,
      operation: "commit of a change that concerns one of so many followed queries, \(filter)",
      parameters: ["queries": queries.count, "entities": jobs.count, "operations": count],
      durability: durability,
      contenders: [
        Workload.Contender(.pando) {
          let directory = try runner.makeDirectory()
          let followed = try FollowedEntities(directory, durability, jobs)
          try followed.follow(queries)
          return try .time(
            count, in: directory,
            { latencies in
              var job = jobs[0]
              for number in 1...count {
                job.effort = number
                try latencies.time { try followed.change(job) }
              }
              try followed.waitUntilShown()
              return 0
            }, checksum: { try followed.checksum(of: 1) { $0.effort } })
        }
      ])
  }

  /// Compares processor times: what other programs do shows in them least.
  private func compare(_ workload: String, _ reference: String, _ title: String, goal: Double) {
    guard let many = runner.entry(.pando, in: workload),
      let one = runner.entry(.pando, in: reference)
    else { return }
    runner.add(
      Comparison(
        name: "continuous/\(workload):\(reference)",
        title: "continuous, \(title)",
        value: many.processorNanosecondsPerOperation / one.processorNanosecondsPerOperation,
        goal: .atMost(goal)))
  }
}
