import PandoFixtures
import Testing

@testable import PandoReplication

/// The addresses, failures and repeated calls that logs over servers share.
@Suite struct LogBaseTests {
  @Test(arguments: [
    ("host", "host:9"), ("host:1", "host:1"), ("[::1]", "[::1]:9"), ("::1", "[::1]:9"),
    ("[2001:db8::1]:70", "[2001:db8::1]:70"), ("/run/log", "/run/log:9"),
    ("/run/log:8", "/run/log:8"),
  ])
  func `an address has a host and a port`(text: String, description: String) throws {
    let address = try LogAddress(text[...], port: 9, allowsSockets: true)
    #expect(address.description == description)
    #expect(address.isSocket == text.hasPrefix("/"))
  }

  @Test(arguments: [
    "", ":1", "a b", "a,b", "a/b", "/run/log", "host:0", "host:65536", "host:x", "[]",
  ])
  func `an address without a host or a port is refused`(text: String) {
    #expect(throws: LogFault.self) { try LogAddress(text[...], port: 9) }
  }

  @Test func `a pause doubles with each failure, up to a limit`() {
    var pause = LogPause(3, upTo: 10)
    #expect((0..<4).map { _ in pause.next() } == [3, 6, 10, 10])
    pause.reset()
    #expect(pause.next() == 3)
  }

  @Test(arguments: seeds(20))
  func `sealed bytes are read as they were, and no others are`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let numbers = (0..<Int.random(in: 0..<5, using: &random)).map { _ in random.next() }
    let sealed = SealedBytes.seal(numbers, [80, 1])
    #expect(SealedBytes.openNumbers(sealed, [80, 1]) == numbers)
    #expect(SealedBytes.open(sealed, [80, 2]) == nil)
    for index in sealed.indices {
      var damaged = sealed
      damaged[index] ^= UInt8.random(in: 1...255, using: &random)
      #expect(SealedBytes.open(damaged, [80, 1]) == nil)
      #expect(SealedBytes.open(Array(sealed.prefix(index)), [80, 1]) == nil)
    }
  }

  @Test func `a client certificate needs its key`() throws {
    #expect(try LogTLS().clientFiles() == nil)
    let both = try LogTLS(certificateFile: "a", keyFile: "b").clientFiles()
    #expect(both?.certificate == "a" && both?.key == "b")
    #expect(throws: LogFailure.self) { try LogTLS(certificateFile: "a").clientFiles() }
  }
}
