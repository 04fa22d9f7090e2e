/// The settings of a run.
public struct LiveSettings: Sendable, CustomStringConvertible {
  /// Where the data live.
  public enum Backing: String, Sendable, CaseIterable {
    /// In a store, with core managers over it.
    case store
    /// In a cache of the service's own.
    case cache
    /// In the memory of a manager without a store.
    case memory
  }

  /// Where the data live.
  public var backing: Backing
  /// How many tasks call at once; the order of what one of them does is determined.
  public var taskCount: Int
  /// Whether some calls have `updateCache: false`.
  public var isUnsaved = false
  /// Whether the store has no file.
  public var isInMemory = false
  /// How many entities the memory of a manager over a store holds; 0 for none.
  public var cacheLimit = 0
  /// How often all is awaited and compared.
  public var roundCount = 3
  /// How many calls a task makes between two comparisons.
  public var stepCount = 40
  /// Whether the naive model has a rule that is wrong on purpose: then the run must fail.
  public var isCanary = false
  /// Called with each step; `nil` to keep silent.
  public var trace: (@Sendable (String) -> Void)?

  /// Makes settings.
  public init(backing: Backing, taskCount: Int) {
    self.backing = backing
    self.taskCount = taskCount
  }

  /// Makes settings from decisions.
  public init(_ choices: inout Choices) {
    backing = choices.pick(Backing.allCases)
    taskCount = choices.pick([1, 1, 2, 3])
    isUnsaved = choices.chance(30)
    cacheLimit = choices.pick([0, 2, 1_024])
    isInMemory = choices.chance(30)
  }

  /// One line.
  public var description: String {
    "\(backing.rawValue), \(taskCount) \(taskCount == 1 ? "task" : "tasks")"
      + (isUnsaved ? ", some unsaved" : "") + (backing == .store ? ", cache of \(cacheLimit)" : "")
      + (isInMemory ? ", no file" : "")
  }
}
