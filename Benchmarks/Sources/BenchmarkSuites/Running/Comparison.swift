/// A figure that is judged: how two systems compare, how a cost grows, or a time.
struct Comparison: Sendable {
  /// The name in the JSON report; it does not change.
  let name: String
  /// The name for people.
  let title: String
  let value: Double
  /// Empty for a quotient, else such as `ms`.
  var unit = ""
  /// The least and the greatest value of runs that followed one another.
  var range: ClosedRange<Double>?
  /// The same quotient of processor times, turned so that what is better for `value` is better here.
  var processorValue: Double?
  /// The value of another implementation where there is one to beat, in the same unit.
  var original: Double?
  let goal: Goal?

  /// Whether the goal is reached, as far as there is one.
  var isReached: Bool { goal?.isReached(by: value) ?? true }
}

extension Comparison {
  /// Compares the rates of two systems in a workload.
  init(
    _ entry: WorkloadResult.Entry, over reference: WorkloadResult.Entry, workload: String,
    goal: Goal?
  ) {
    let single = zip(entry.measurements, reference.measurements).map { one, other in
      one.operationsPerSecond / other.operationsPerSecond
    }
    self.init(
      name: "\(workload.replacing(" ", with: "/"))/\(entry.system.rawValue):"
        + "\(reference.system.rawValue)",
      title: "\(workload), \(entry.system.title) : \(reference.system.title)",
      value: entry.operationsPerSecond / reference.operationsPerSecond,
      range: (single.min() ?? 0)...(single.max() ?? 0),
      processorValue: reference.processorNanosecondsPerOperation
        / entry.processorNanosecondsPerOperation,
      goal: goal)
  }
}

extension Comparison {
  /// Compares two workloads of one system whose runs took turns.
  ///
  /// For a goal that is a least value the rates are compared, for one that is a most value the times.
  init(
    name: String, title: String, _ entry: WorkloadResult.Entry,
    with reference: WorkloadResult.Entry, goal: Goal
  ) {
    func quotient(_ one: Double, _ other: Double) -> Double {
      goal.direction == .atLeast ? one / other : other / one
    }
    let single = zip(entry.measurements, reference.measurements).map { one, other in
      quotient(one.operationsPerSecond, other.operationsPerSecond)
    }
    self.init(
      name: name, title: title,
      value: quotient(entry.operationsPerSecond, reference.operationsPerSecond),
      range: (single.min() ?? 0)...(single.max() ?? 0),
      processorValue: quotient(
        reference.processorNanosecondsPerOperation, entry.processorNanosecondsPerOperation),
      goal: goal)
  }
}
