/// Where `torture origins` kills a process, between the beginning of a write and its end.
enum OriginStep: String, CaseIterable {
  /// It has connected, and brings its store and the log together.
  case opening
  /// It has asked for messages, and has no answer.
  case asking
  /// It has an answer, and takes in what others have written.
  case takingIn = "taking in"
  /// It is inside the closure of a write.
  case begun
  /// Its message has come to the log, which has not appended it.
  case beforeAppend = "before the append"
  /// The first part of a large entry is there, and the others are not.
  case betweenParts = "between parts"
  /// Its message has been appended, and the answer is not sent.
  case appended
  /// The answer is sent: the commit is next.
  case answered
  /// A short while later: the commit is under way, or has been.
  case committing
  /// The write has returned, and its caller has not reported it.
  case returned
  /// At any time.
  case anyTime = "any time"

  /// That of a kill.
  ///
  /// Each comes once in a row of all of them; but the log keeps large entries in memory, so that those are
  /// cut in every fourth row only.
  init(ofKill number: Int) {
    let step = Self.allCases[number % Self.allCases.count]
    let isLeftOut = step == .betweenParts && number / Self.allCases.count % 4 != 0
    self = isLeftOut ? .anyTime : step
  }

  /// Whether the log has answered, so that it depends on the moment whether the store has the write.
  var isBehindAnswer: Bool { [.answered, .committing, .returned].contains(self) }
}
