import Testing

/// What happens in a simulation of a log that lies.
enum Lie: CaseIterable, CustomTestStringConvertible {
  /// The last messages are gone, as behind a failover to a server that did not have them.
  case lostEnd
  /// A message in the middle is gone.
  case lostMiddle
  /// The servers have different messages at one position.
  case twoHistories
  /// The stream is not there, and comes back empty.
  case lostStream
  /// All messages are gone; positions may go on.
  case emptied
  /// The copy beside the log is damaged.
  case damagedCopy
  /// A clock goes wrong by hours.
  case clockJump
  /// A machine's disk has no room.
  case fullDisk
  /// A machine that comes in the middle.
  case lateJoiner
  /// A machine whose program does not compare itself with the log.
  case oldProgram
  /// An entry of a program to come.
  case newProgram
  /// Another server leads, and nothing is lost.
  case failover
  /// The log lets go of what a copy has.
  case retention

  var testDescription: String { "\(self)" }

  /// Whether machines may have to stop.
  var losesSomething: Bool {
    switch self {
    case .lostEnd, .lostMiddle, .twoHistories, .lostStream, .emptied, .newProgram: true
    // What it has not compared it brings to others.
    case .oldProgram, .damagedCopy, .clockJump, .fullDisk, .lateJoiner, .failover, .retention: false
    }
  }
}
