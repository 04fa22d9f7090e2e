/// A load with the commit that it was read from.
final class ReadAhead: @unchecked Sendable {
  // Sendable because one after another has it: the loading queue, then the pipeline.
  let load: any StoreLoad
  var number: UInt64
  /// Writes prepared after this commit know already what is awaited; `nil` if none do.
  let knownSince: UInt64?

  init(_ load: any StoreLoad, number: UInt64 = 0, knownSince: UInt64? = nil) {
    self.load = load
    self.number = number
    self.knownSince = knownSince
  }
}
