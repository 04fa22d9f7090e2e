import Pando

extension ModelStore.Configuration {
  /// A small map, so that it has to grow.
  static func torture(_ durability: Durability = .full, isReadOnly: Bool = false) -> Self {
    var configuration = Self()
    configuration.mapSizeInBytes = 256 << 10
    configuration.maximumMapSizeInBytes = 1 << 32
    configuration.durability = durability
    configuration.isReadOnly = isReadOnly
    return configuration
  }
}

extension Durability {
  /// Those of a run; an interval in which a workload has several checkpoints.
  static let tortured: [Durability] = allCases.map { level in
    if case .relaxed = level { return .relaxed(every: .milliseconds(12)) }
    return level
  }

  init(named name: String) throws {
    switch name {
    case "full": self = .full
    case "consistent": self = .consistent
    case "relaxed": self = Self.tortured[2]
    case "unsynchronized": self = .unsynchronized
    default: throw TortureFailure("no level of durability is called \(name)")
    }
  }

  var isRelaxed: Bool { name == "relaxed" }

  var name: String {
    switch self {
    case .full: "full"
    case .consistent: "consistent"
    case .relaxed: "relaxed"
    case .unsynchronized: "unsynchronized"
    }
  }
}
