/// A key and a value, as they were read.
struct PageFixtureEntry: Equatable {
  let key: [UInt8]
  let value: [UInt8]
}
