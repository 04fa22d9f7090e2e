extension BenchmarkOptions {
  /// What `--help` shows.
  public static let usage = """
    usage: pando-bench [--suite NAMES] [--size smoke|standard] [--runs N] [--seed N]
                       [--json FILE] [--dir DIR]

      --suite NAMES  comma-separated: \(SuiteName.allCases.map(\.rawValue).joined(separator: ", "))
                     (all of them)
      --size SIZE    smoke: seconds, for correctness only; standard: for figures (standard)
      --runs N       how often each workload runs, the median counts (3)
      --seed N       the seed of keys, values and orders (1)
      --json FILE    also write the results there
      --dir DIR      where the databases are made; its disk is what is measured

    example: swift run -c release pando-bench --suite kv --runs 5

    """

  /// Reads a command line.
  ///
  /// - Parameter arguments: The arguments, without the name of the program.
  /// - Throws: ``BenchmarkError`` of kind `usage` that says which argument is wrong.
  public init(arguments: [String]) throws {
    self.init()
    var rest = arguments[...]
    while let option = rest.popFirst() {
      if option == "--help" || option == "-h" {
        showsHelp = true
        continue
      }
      guard let value = rest.popFirst() else {
        throw BenchmarkError(.usage, "\(option) needs a value, or is not an option")
      }
      try set(option, to: value)
    }
  }

  private mutating func set(_ option: String, to value: String) throws {
    switch option {
    case "--suite": suites = try value.split(separator: ",").map(Self.suite(named:))
    case "--size": size = try Self.parse(value, option) { Size(rawValue: $0) }
    case "--runs": runs = try Self.parse(value, option) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
    case "--seed": seed = try Self.parse(value, option) { UInt64($0) }
    case "--json": jsonPath = value
    case "--dir": directory = value
    default: throw BenchmarkError(.usage, "\(option) is not an option")
    }
  }

  private static func suite(named name: Substring) throws -> SuiteName {
    try parse(String(name), "--suite") { SuiteName(rawValue: $0) }
  }

  private static func parse<Value>(
    _ text: String, _ option: String, _ convert: (String) -> Value?
  ) throws -> Value {
    guard let value = convert(text) else {
      throw BenchmarkError(.usage, "\(option) can't be \"\(text)\"")
    }
    return value
  }
}
