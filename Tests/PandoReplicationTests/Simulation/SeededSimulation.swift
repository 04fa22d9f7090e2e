import PandoFixtures

/// What chooses by a seed what happens in a simulation.
struct Chances {
  var random: SeededGenerator
  /// How likely trouble is, in percent of what it can be.
  var trouble = 0
  /// Whether there is trouble at present.
  var hasFaults = false
  /// How many calls are under way inside of which others write.
  fileprivate var depth = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }
}

/// A simulation in which one thread at a time runs.
protocol SeededSimulation: AnyObject {
  var chances: Chances { get set }
}

extension SeededSimulation {
  /// A number below a count.
  func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &chances.random) }

  /// Whether something happens that is so likely at most.
  func chance(_ percent: Int) -> Bool {
    chances.hasFaults && number(10_000) < percent * chances.trouble
  }

  /// Runs a closure during which nothing goes wrong.
  func withoutFaults<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = chances.hasFaults
    chances.hasFaults = false
    defer { chances.hasFaults = before }
    return try body()
  }

  /// Runs a closure in which others write inside of a call, unless that goes too deep.
  func insideCall(_ body: () -> Void) {
    guard chances.depth < 2 else { return }
    chances.depth += 1
    defer { chances.depth -= 1 }
    body()
  }
}
