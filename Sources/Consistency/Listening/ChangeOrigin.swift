import Foundation

/// Where changes come from: one object an update, which all its changes share.
final class ChangeOrigin: Sendable {
  let context: (any Sendable)?
  /// When the update was made.
  let date: Date
  /// Which update of the pipeline it was.
  let order: UInt64

  init(_ update: LiveUpdate, order: UInt64) {
    context = update.context
    date = update.date
    self.order = order
  }
}
