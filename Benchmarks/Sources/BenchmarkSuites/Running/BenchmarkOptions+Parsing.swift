import Pando

extension BenchmarkOptions {
  /// The text of `--help`.
  public static let usage = """
    usage: pando-bench [--suite NAMES] [--workload NAMES] [--size smoke|standard|large]
                       [--systems NAMES] [--threads N] [--durability LEVEL] [--seed N]
                       [--runs N] [--json FILE] [--html FILE] [--dir DIR]

      --suite NAMES       comma-separated (all of them):
                          \(SuiteName.allCases.map(\.rawValue).joined(separator: ", "))
      --workload NAMES    comma-separated, of the suites that run: get-tree, or get-* for
                          all that begin so (all of them)
      --size SIZE         smoke: under a minute, for correctness only; standard: for figures;
                          large: up to ten million nodes (standard)
      --systems NAMES     comma-separated (all that are there):
                          \(System.allCases.map(\.rawValue).joined(separator: ", "))
      --threads N         the most threads that a workload uses (64)
      --durability LEVEL  full, consistent, relaxed or unsynchronized (full; in cascade,
                          collection and scale unsynchronized)
      --seed N            the seed of keys, values and orders (1)
      --runs N            how often each workload runs, the median counts (3)
      --json FILE         also write the results there
      --html FILE         also write a page with plots there
      --dir DIR           where the databases are made; its disk is what is measured

    example: swift run -c release pando-bench --suite kv --systems pando,lmdb --runs 5

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
    case "--suite":
      suites = try Self.list(value, option) { SuiteName(rawValue: $0) }
    case "--workload":
      workloads = try Self.list(value, option) { $0.isEmpty ? nil : $0 }
    case "--size": size = try Self.parse(value, option) { Size(rawValue: $0) }
    case "--systems":
      systems = Set(try Self.list(value, option) { System(rawValue: $0)?.rawValue })
    case "--threads": threads = try Self.parse(value, option, Self.count)
    case "--durability":
      durability = try Self.parse(value, option) { name in
        Durability.allCases.first { $0.name == name }
      }
    case "--seed": seed = try Self.parse(value, option) { UInt64($0) }
    case "--runs": runs = try Self.parse(value, option, Self.count)
    case "--json": jsonPath = value
    case "--html": htmlPath = value
    case "--dir": directory = value
    default: throw BenchmarkError(.usage, "\(option) is not an option")
    }
  }

  private static func count(_ text: String) -> Int? {
    Int(text).flatMap { $0 > 0 ? $0 : nil }
  }

  private static func list<Value>(
    _ text: String, _ option: String, _ convert: (String) -> Value?
  ) throws -> [Value] {
    try text.split(separator: ",").map { try parse(String($0), option, convert) }
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
