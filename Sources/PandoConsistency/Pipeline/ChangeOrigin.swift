import FoundationEssentials

/// Where changes come from: one object an update, which all its changes share.
final class ChangeOrigin: Sendable {
  let context: (any Sendable)?
  /// When the update was made.
  let date: Date
  /// Which update of the pipeline it was.
  let order: UInt64

  init(context: (any Sendable)?, date: Date, order: UInt64) {
    self.context = context
    self.date = date
    self.order = order
  }
}
