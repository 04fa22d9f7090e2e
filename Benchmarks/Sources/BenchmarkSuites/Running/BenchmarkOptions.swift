import Foundation
public import Pando

/// The workloads to measure, and how often.
public struct BenchmarkOptions: Sendable {
  /// How much work there is.
  public enum Size: String, Sendable, CaseIterable {
    /// Seconds for everything; for correctness only.
    case smoke
    /// The size of published figures; minutes.
    case standard
    /// Stores that are larger than most caches; an hour or more.
    case large
  }

  /// The suites to run, in order.
  public var suites: [SuiteName] = SuiteName.allCases
  /// The workloads that were asked for, by name or by how it begins (`get-*`); `nil` for all.
  public var workloads: [String]?
  /// How much work there is.
  public var size: Size = .standard
  /// The systems that were asked for, by name; `nil` for all.
  public var systems: Set<String>?
  /// The most threads that a workload uses.
  public var threads = 64
  /// The durability of commits; `nil` is the default of the suite, see ``durability(default:)``.
  public var durability: Durability?
  /// How often each workload runs; the median counts.
  public var runs = 3
  /// The seed of all keys, values and orders.
  public var seed: UInt64 = 1
  /// Where to write the results as JSON.
  public var jsonPath: String?
  /// Where to write the results as a page.
  public var htmlPath: String?
  /// The directory that holds the databases while the benchmark runs.
  public var directory = FileManager.default.temporaryDirectory.path
  /// Whether only the usage is asked for.
  public var showsHelp = false

  /// Makes the options of a run without arguments.
  public init() {}

  /// A number that depends on the size.
  func scaled(smoke: Int, standard: Int, large: Int? = nil) -> Int {
    switch size {
    case .smoke: smoke
    case .standard: standard
    case .large: large ?? standard
    }
  }

  /// The numbers of threads to measure with, as far as so many are allowed.
  func threadCounts(_ counts: [Int]) -> [Int] { counts.filter { $0 <= threads } }

  /// The durability of commits: the requested one, or the default of a suite.
  func durability(default standard: Durability = .full) -> Durability { durability ?? standard }

  /// Whether a workload was asked for.
  func includes(workload name: String) -> Bool {
    guard let workloads else { return true }
    return workloads.contains { pattern in
      pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
  }

  /// Whether a system was asked for and is there.
  func takesPart(_ system: System) -> Bool {
    (systems?.contains(system.rawValue) ?? true) && system.isPresent
  }
}

extension Durability {
  /// The name on the command line and in reports.
  var name: String {
    if case .relaxed = self { return "relaxed" }
    return "\(self)"
  }
}
