import Foundation
import PandoFixtures
import PandoModels
import PandoStore
import Testing

@testable import PandoCommand

@Suite struct SignalLineTests {
  private static let line =
    "pando get: the/store: reading the store's file ended in a signal, so the file is probably "
    + "damaged; run: pando verify the/store\n"

  @Test func `a signal becomes a line and status 4`() async throws {
    let result = await #expect(
      processExitsWith: .exitCode(4), observing: [\.standardErrorContent]
    ) {
      SignalLine.prepare(for: "pando get", path: "the/store")
      raise(SIGSEGV)
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == Self.line)
  }

  @Test func `a signal that no damage raises does not blame the file`() async throws {
    let result = await #expect(
      processExitsWith: .exitCode(4), observing: [\.standardErrorContent]
    ) {
      SignalLine.prepare(for: "pando get", path: "the/store")
      raise(SIGILL)
    }
    let line = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(
      line.hasPrefix("pando get: the/store: ended in a signal that the system or this program"))
    #expect(line.contains("ulimit"))
  }

  // ThreadSanitizer writes out the C library's streams at each exit.
  @Test(.disabled(if: isSanitized, "a sanitizer has signals and address space of its own"))
  func `messages of liblmdb before an abort are not printed`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .exitCode(4), observing: [\.standardErrorContent]
    ) {
      SignalLine.prepare(for: "pando get", path: "the/store")
      printLikeC("mdb.c:1: Assertion 'x' failed in f()\n")
      abort()
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == Self.line)
  }

  @Test func `a file that is cut off while it is open becomes a line and status 4`() async throws {
    let result = await #expect(
      processExitsWith: .exitCode(4), observing: [\.standardErrorContent]
    ) {
      try withTemporaryDirectory { directory throws in
        let store = try ModelStore(path: directory, configuration: .forTests)
        try store.write { transaction in
          for number in 0..<3000 {
            try transaction.set(TreeNode("N:\(number)", type: "N", fields: ["number": 1]))
          }
        }
        SignalLine.prepare(for: "pando get", path: "the/store")
        truncate(directory + "/data.mdb", 3 * 4096)
        _ = try store.read { try $0.identifiers() }
      }
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == Self.line)
  }
}
