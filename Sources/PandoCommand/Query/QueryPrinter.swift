import PandoModels
import PandoStore

/// Prints the result of a query in one version of the store.
struct QueryPrinter {
  /// The number of nodes read to find the existing fields.
  private static let sampleCount = 1000

  let request: QueryRequest
  let form: ListForm
  /// Whether an unknown field is an error; a field of a followed result may go with its last node.
  var refusesUnknownFields = true

  /// The plan of the query.
  func plan(_ snapshot: ModelSnapshot) throws -> QueryPlan {
    let query = try query(in: snapshot)
    switch request.result {
    case .identifiers, .rows: return try snapshot.plan(for: query)
    case .count: return try snapshot.plan(for: .count, to: query)
    case .groups(let fields, _, let summed, _):
      return try snapshot.plan(for: groups(fields, summed, snapshot), to: query)
    }
  }

  /// Passes the text of the result to a closure.
  func print(_ snapshot: ModelSnapshot, _ print: @escaping (String) throws -> Void) throws {
    let typeCount = try snapshot.count(ofType: request.query.typeName)
    if typeCount <= Self.sampleCount {
      try requireFields(request.printedFields, snapshot)
    }
    let query = try query(in: snapshot)
    var list = ListOutput(form, columns: request.columns, print)
    switch request.result {
    case .identifiers:
      var isEmpty = true
      try snapshot.forEachRow(of: [.identifier], matching: query) { row in
        isEmpty = false
        try list.write(row[0].stringValue ?? "")
      }
      if isEmpty { try requireFields(request.queryFields, snapshot) }
      try list.end()
    case .rows(let fields):
      let stored = try snapshot.byIndexedFields(
        fields.map(\.field.field), ofType: query.typeName)
      var isEmpty = true
      try snapshot.forEachRow(of: stored, matching: query) { row in
        isEmpty = false
        try list.write(row: zip(fields, row).map { $0.printed($1) })
      }
      if isEmpty { try requireFields(request.queryFields, snapshot) }
      try list.end()
    case .count:
      let count = try snapshot.answer(.count, to: query).count
      if count == 0 { try requireFields(request.queryFields, snapshot) }
      try write([.integer(Int64(count))], &list)
    case .groups(let fields, let isCounted, let summed, let top):
      try printGroups(fields, isCounted, summed, top, query, snapshot, &list)
    }
  }

  /// Prints the only row of a result: in JSON an object by itself.
  private func write(_ row: [TreeValue], _ list: inout ListOutput) throws {
    if form.format == .json {
      let fields = Dictionary(uniqueKeysWithValues: zip(request.columns, row))
      try list.writeAlone(.object(fields))
    } else {
      try list.write(row: row)
      try list.end()
    }
  }
}

// MARK: Groups

extension QueryPrinter {
  private func groups(
    _ fields: [PrintedField], _ summed: FilterField?, _ snapshot: ModelSnapshot
  ) throws -> RecordGroups {
    func stored(_ field: FilterField) throws -> RecordField {
      try snapshot.byIndexedFields([field.field], ofType: request.query.typeName)[0]
    }
    return RecordGroups(
      try fields.map { .init(try stored($0.field), unit: $0.unit) }, summing: try summed.map(stored)
    )
  }

  private func printGroups(
    _ fields: [PrintedField], _ isCounted: Bool, _ summed: FilterField?, _ top: Int?,
    _ query: RecordQuery, _ snapshot: ModelSnapshot, _ list: inout ListOutput
  ) throws {
    let groups = try groups(fields, summed, snapshot)
    var answers = try snapshot.answers(groups, to: query)
    // An index with totals gives a sum without a count.
    let isEmpty =
      try answers.isEmpty
      || answers.count == 1 && answers[0].count == 0
        && snapshot.answer(.count, to: query).count == 0
    if isEmpty { try requireFields(request.queryFields, snapshot) }
    if let summed { try requireNumbers(summed, answers, groups, query, snapshot) }
    var sums: [QueryValue] = []
    for answer in answers {
      guard let sum = answer.sum.value else {
        throw CommandError(
          .badInput, at: request.path,
          "the sum of “\(summed?.name ?? "")” has more digits than a decimal number holds")
      }
      sums.append(sum)
    }
    var order = Array(answers.indices)
    if let top {
      let ranks = summed == nil ? answers.map { .integer(Int64($0.count)) } : sums
      // Equal answers stay in the order of their keys.
      order = order.sorted { (ranks[$1], $0) < (ranks[$0], $1) }
      order = Array(order.prefix(top))
    }
    for place in order {
      var row = try zip(fields, answers[place].key).map { try keyCell($0, $1) }
      if isCounted { row.append(.integer(Int64(answers[place].count))) }
      if summed != nil { row.append(TreeValue(sums[place]) ?? .null) }
      if fields.isEmpty { return try write(row, &list) }
      try list.write(row: row)
    }
    answers = []
    try list.end()
  }

  private func keyCell(_ field: PrintedField, _ value: QueryValue) throws -> TreeValue {
    guard let value = TreeValue(value) else {
      throw CommandError(
        .badInput, at: request.path,
        "“\(field.field.name)” has lists or objects, which are no keys of groups",
        remedy: "name a field in them, or their elements: \(field.field.name)[]")
    }
    return field.printed(value)
  }

  /// Throws if the values of a field can't be added.
  private func requireNumbers(
    _ summed: FilterField, _ answers: [RecordGroups.Answer], _ groups: RecordGroups,
    _ query: RecordQuery, _ snapshot: ModelSnapshot
  ) throws {
    let name = "“\(summed.name)”"
    if let kind = answers.lazy.flatMap(\.otherKinds).first {
      throw CommandError(
        .badInput, at: request.path,
        "\(name) has \(kind.pluralName), which can't be added; --sum takes a field with numbers")
    }
    guard answers.contains(where: { $0.count > 0 }), answers.allSatisfy({ $0.sum.count == 0 })
    else { return }
    // Perhaps other nodes have numbers.
    let all = try snapshot.answers(
      RecordGroups([], summing: groups.summed), to: RecordQuery(typeName: query.typeName))
    guard all.allSatisfy({ $0.sum.count == 0 }) else { return }
    throw CommandError(
      .badInput, at: request.path,
      "no \(query.typeName) has a number in \(name); --sum takes a field with numbers")
  }
}

// MARK: Unknown fields

extension QueryPrinter {
  /// Throws if an unknown field may be the reason for an empty result.
  private func requireFields(_ fields: [FilterField], _ snapshot: ModelSnapshot) throws {
    let typeName = request.query.typeName
    var missing = fields.compactMap { if case .named = $0.field { $0.name } else { nil } }
    if missing.isEmpty || !refusesUnknownFields { return }
    var known: Set<String> = []
    for identifier in try snapshot.identifiers(ofType: typeName, limit: Self.sampleCount) {
      if missing.isEmpty { return }
      guard let tree = try snapshot.tree(identifier, as: typeName, depth: 0) else { continue }
      known.formUnion(tree.fields.objectValue?.keys.map { $0 } ?? [])
      missing.removeAll { name in
        tree[name] != nil || Self.leads(name.split(separator: ".")[...], into: .node(tree))
      }
    }
    guard let name = missing.first, !known.isEmpty else { return }
    let names = known.sorted().prefix(20).joined(separator: ", ")
    throw CommandError(
      .notThere, at: request.path, "no \(typeName) has a field “\(name)”",
      remedy: "it has: \(names)")
  }

  /// Whether a value may have a field of this name; children and elements are not read.
  private static func leads(_ parts: ArraySlice<Substring>, into value: TreeValue) -> Bool {
    guard let part = parts.first else { return true }
    let isEach = part.hasSuffix("[]")
    switch value[String(isEach ? part.dropLast(2) : part)] {
    case nil: return false
    case .reference, .required(.reference): return true
    case let next?: return isEach || leads(parts.dropFirst(), into: next)
    }
  }
}

extension QueryPrinter {
  /// The query with the search, by the indexes of a store.
  private func query(in snapshot: ModelSnapshot) throws -> RecordQuery {
    let query = try snapshot.byIndexedFields(request.query)
    guard let words = request.search else { return query }
    guard let search = try snapshot.searching(words, query) else {
      throw CommandError(
        .notThere, at: request.path, "no index has words of a \(query.typeName)",
        remedy: "add one with: pando index \(request.path) add \(query.typeName) FIELD --text")
    }
    return search
  }
}
