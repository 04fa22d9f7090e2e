/// A mistake that a run makes on purpose: the check has to find it.
enum OriginsControl: Int, CaseIterable {
  /// The first machine says a write before it is made.
  case acknowledgesEarly
  /// The first machine makes a write again that has returned.
  case writesTwice
  /// The log answers, and has not kept the message.
  case losesEntries
}
