/// What a run does wrong on purpose: it has to be found.
enum OriginsControl: Int, CaseIterable {
  /// The first machine says a write before it is made.
  case acknowledgesEarly
  /// The first machine makes a write again that has returned.
  case writesTwice
  /// The log answers, and has not kept the message.
  case losesEntries
}
