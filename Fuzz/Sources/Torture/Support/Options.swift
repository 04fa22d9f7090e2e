/// The options of the command line.
struct Options {
  /// The command, or the role of a process that another one started.
  var command = ""
  /// The arguments behind the command that are no options.
  var positional: [String] = []
  var rounds = 0
  /// Rounds go on until there were so many kills, or states whose level promises something.
  var goal = 0
  var seed: UInt64 = 0
  var seconds = 0
  var jobs = 2
  /// How many processes there are.
  var processes = 8
  /// How many kills `origins` makes.
  var kills = 0
  /// States of the disk that are tried at each cut, beyond all and none.
  var states = 4
  var commits = 0
  /// By how much the sizes of `hostile` are divided.
  var scale = 1
  /// Makes the run sharp in the wrong direction: it must fail.
  var isControl = false
  /// Prints each step.
  var isTracing = false

  static let usage = """
    usage: torture kill       [--rounds N | --goal KILLS] [--seed S] [--control]
           torture powercut   [--rounds N | --goal STATES] [--seed S] [--states N] [--commits N]
                              [--jobs N]
           torture faults     [--rounds N] [--seed S] [--commits N] [--jobs N]
           torture full-disk  [--rounds N] [--seed S]
           torture soak       [--minutes M | --seconds S] [--seed S]
           torture live       [--minutes M | --seconds S | --rounds N] [--seed S] [--trace]
                              [--control]
           torture processes  [--processes N] [--minutes M | --seconds S] [--seed S] [--control]
           torture origins    [--kills N] [--seed S] [--control]
           torture hostile    [--scale N] [--seed S]
    docs/reliability.md says what each does. Without --seed a new one is taken and printed.
    """

  init(_ arguments: [String]) throws {
    seed = UInt64.random(in: 1..<1_000_000)
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--rounds": rounds = try Self.number(&rest, argument)
      case "--goal": goal = try Self.number(&rest, argument)
      case "--seed": seed = UInt64(try Self.number(&rest, argument))
      case "--minutes": seconds = try Self.number(&rest, argument) * 60
      case "--seconds": seconds = try Self.number(&rest, argument)
      case "--jobs": jobs = max(1, try Self.number(&rest, argument))
      case "--processes": processes = max(2, try Self.number(&rest, argument))
      case "--kills": kills = try Self.number(&rest, argument)
      case "--states": states = try Self.number(&rest, argument)
      case "--commits": commits = try Self.number(&rest, argument)
      case "--scale": scale = max(1, try Self.number(&rest, argument))
      case "--control": isControl = true
      case "--trace": isTracing = true
      default:
        guard !argument.hasPrefix("--") else {
          throw TortureFailure("unknown option \(argument)\n\(Self.usage)")
        }
        if command.isEmpty { command = argument } else { positional.append(argument) }
      }
    }
  }

  private static func number(_ rest: inout ArraySlice<String>, _ option: String) throws -> Int {
    guard let text = rest.popFirst(), let number = Int(text), number >= 0 else {
      throw TortureFailure("\(option) needs a number\n\(usage)")
    }
    return number
  }
}
