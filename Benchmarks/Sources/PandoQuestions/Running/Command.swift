import Foundation
import Pando

/// The options of the command.
struct Options {
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  var sequences = 1_000
  var seed: UInt64 = 1
  var canaries = false
  var findings = 1

  static let usage = """
    pando-questions [--sequences N] [--seed S] [--canaries] [--findings N]

    Draws data, indexes, questions and commits, and compares after each commit what Pando answers, what followers receive,
    who follow, plain Swift and SQLite. A sequence follows from its seed: S, S + 1 and so on.
      --sequences N   how many; 1000 without it
      --seed S        the first seed; 1 without it
      --canaries      first makes each known mistake on purpose, which must be found
      --findings N    how many to shrink and print before it ends; 1 without it

    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func number<Value: FixedWidthInteger>() throws -> Value {
      guard let text = rest.popFirst(), let value = Value(text) else {
        throw Wrong(description: "a number is missing")
      }
      return value
    }
    while let option = rest.popFirst() {
      switch option {
      case "--sequences": sequences = try number()
      case "--seed": seed = try number()
      case "--canaries": canaries = true
      case "--findings": findings = try number()
      default: throw Wrong(description: "unknown option \(option)")
      }
    }
  }
}

/// Runs the command.
struct Command {
  let options: Options

  init(_ options: Options) { self.options = options }

  /// - Returns: The exit code.
  func run() async throws -> Int32 {
    let runner = try Runner()
    var isGood = true
    if options.canaries { isGood = await findsMistakes(runner) }
    if isGood { isGood = await agrees(runner) }
    await runner.close()
    return isGood ? 0 : 1
  }

  private func findsMistakes(_ runner: Runner) async -> Bool {
    var isFound = true
    for mistake in Mistake.allCases {
      let count = await runner.sequences(toFind: mistake, from: options.seed, maximum: 20_000)
      if let count {
        show("canary \(mistake): found after \(count) sequences")
      } else {
        show("canary \(mistake): NOT found")
        isFound = false
      }
    }
    return isFound
  }

  private func agrees(_ runner: Runner) async -> Bool {
    var coverage = Coverage()
    var commits = 0
    var count = 0
    let start = ContinuousClock.now
    for number in 0..<options.sequences {
      let plan = Plan(seed: options.seed &+ UInt64(number))
      if let finding = await runner.finding(plan) {
        show("seed \(plan.seed): \(finding)")
        let (shrunk, last) = await runner.shrunk(plan, finding)
        show("shrunk:\n\(shrunk)\n\(last)")
        show("again: pando-questions --sequences 1 --seed \(plan.seed)")
        count += 1
        if count == options.findings { return false }
      }
      commits += plan.commits.count + 1
      if number < 20_000 { coverage.add(plan) }
      if (number + 1).isMultiple(of: 10_000) { show("\(number + 1) sequences") }
    }
    let seconds = Double((ContinuousClock.now - start).components.seconds)
    show(
      "\(options.sequences) sequences from seed \(options.seed), \(commits) commits, \(Int(seconds)) s;"
        + " \(coverage.text); \(count) findings")
    return count == 0
  }
}

/// Prints at once, also into a pipe.
private func show(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
