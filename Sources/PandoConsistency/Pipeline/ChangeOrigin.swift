import FoundationEssentials

/// The origin of an update's changes; one object that all of them share.
final class ChangeOrigin: Sendable {
  let context: (any Sendable)?
  let date: Date
  /// The number of the update in the pipeline.
  let order: UInt64

  init(context: (any Sendable)?, date: Date, order: UInt64) {
    self.context = context
    self.date = date
    self.order = order
  }
}
