import PandoModels
import PandoStore

/// The arguments of `pando query`: the nodes, and what of them is printed.
struct QueryRequest {
  /// The result that is printed.
  enum Result {
    case identifiers
    case rows([PrintedField])
    case count
    /// The number of nodes and the sum of a field, in groups.
    case groups([PrintedField], isCounted: Bool, summed: FilterField?, top: Int?)
  }

  let path: String
  let query: RecordQuery
  /// The words that the nodes have.
  let search: String?
  let result: Result
  /// The fields of filter and order.
  let queryFields: [FilterField]

  /// Reads the arguments.
  ///
  /// - Throws: A usage error for a wrong filter, and for options that contradict each other.
  init(_ arguments: ParsedArguments) throws(CommandError) {
    path = arguments[0]
    let (filter, filterFields) = try FilterParser.parse(arguments[2])
    var query = RecordQuery(typeName: arguments[1])
    query.filter = filter
    query.limit = try arguments.count("--limit")
    var queryFields = filterFields
    for text in arguments.values("--order") {
      let (field, isDescending) = try Self.order(text)
      query.order.append(.field(field.field, isDescending: isDescending))
      queryFields.append(field)
    }
    self.query = query
    search = arguments.value("--search")
    self.queryFields = queryFields
    result = try Self.result(arguments)
    if arguments.has("--follow") { try arguments.refuse(["--explain"], "goes without --follow") }
  }

  private static func order(
    _ text: String
  ) throws(CommandError) -> (field: FilterField, isDescending: Bool) {
    var field = text
    let isDescending = text.hasSuffix(":desc")
    if isDescending { field.removeLast(5) }
    if field.hasSuffix(":asc") { field.removeLast(4) }
    guard !field.isEmpty else {
      throw CommandError(.usage, "--order takes FIELD or FIELD:desc, not “\(text)”")
    }
    return (try FilterParser.field(argument: field), isDescending)
  }

  private static func result(_ arguments: ParsedArguments) throws(CommandError) -> Result {
    let top = try arguments.count("--top")
    let groups = try groups(arguments)
    let summed = try arguments.value("--sum").map { (text) throws(CommandError) in
      try FilterParser.field(argument: text)
    }
    if groups.isEmpty { try arguments.refuse(["--top"], "is for groups: --count-by or --by") }
    guard !groups.isEmpty || summed != nil else {
      if arguments.has("--count") {
        try arguments.refuse(["--fields"], "goes without --count")
        return .count
      }
      return try arguments.value("--fields").map { (text) throws(CommandError) in
        .rows(try PrintedField.list(text, of: "--fields", allowsUnits: false))
      } ?? .identifiers
    }
    if let summed, case .named = summed.field {
    } else if let summed {
      throw CommandError(.usage, "--sum takes a field with numbers, not \(summed.name)")
    }
    try arguments.refuse(["--fields", "--count"], "goes without --count-by and --sum")
    try arguments.refuse(["--order", "--limit"], "is for nodes; the first groups are --top N")
    return .groups(groups, isCounted: arguments.has("--count-by"), summed: summed, top: top)
  }

  private static func groups(_ arguments: ParsedArguments) throws(CommandError) -> [PrintedField] {
    if arguments.has("--count-by") {
      try arguments.refuse(["--by"], "goes without --count-by, which gives the groups too")
    }
    if !arguments.has("--sum") {
      try arguments.refuse(["--by"], "is for --sum; to count, use --count-by")
    }
    let option = arguments.has("--by") ? "--by" : "--count-by"
    guard let text = arguments.value(option) else { return [] }
    return try PrintedField.list(text, of: option, allowsUnits: true)
  }

  /// The fields whose values are printed.
  var printedFields: [FilterField] {
    switch result {
    case .identifiers, .count: []
    case .rows(let fields): fields.map(\.field)
    case .groups(let fields, _, let summed, _): fields.map(\.field) + (summed.map { [$0] } ?? [])
    }
  }

  /// The names of the columns.
  var columns: [String] {
    switch result {
    case .identifiers: return ["id"]
    case .count: return ["count"]
    case .rows(let fields): return fields.map(\.column)
    case .groups(let fields, let isCounted, let summed, _):
      var names = fields.map(\.column)
      if isCounted { names.append(names.contains("count") ? "count(*)" : "count") }
      if let summed { names.append(names.contains("sum") ? "sum(\(summed.name))" : "sum") }
      return names
    }
  }

  /// Whether the result is one row with one cell.
  var isNumber: Bool {
    switch result {
    case .count: true
    case .groups(let fields, _, _, _): fields.isEmpty
    default: false
    }
  }
}
