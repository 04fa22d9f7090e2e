/// The arguments of one process of `torture processes`.
public struct ProcessSettings: Sendable {
  /// A rule that is wrong on purpose: the run must fail.
  public enum Control: Int, Sendable, CaseIterable {
    /// The process does not look for what others commit.
    case hearsNothing
    /// The first change of a list after each look is not applied.
    case missesChanges
    /// The process turns the clock back.
    case turnsBack
  }

  /// The folder of the store.
  public var path: String
  /// Which of the processes it is.
  public var process: Int
  /// The seed of the choices.
  public var seed: UInt64
  /// The rule that is wrong in it, if one is.
  public var control: Control?

  /// Makes settings.
  public init(path: String, process: Int, seed: UInt64, control: Control? = nil) {
    self.path = path
    self.process = process
    self.seed = seed
    self.control = control
  }
}
