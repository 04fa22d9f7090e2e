import PandoFixtures
import Testing

@testable import PandoLMDB

@Suite struct CheckpointSlotTests {
  private func slot(_ sequence: UInt64 = 7) -> CheckpointSlot {
    var slot = CheckpointSlot(
      file: OpenFiles.Identity(device: 3, inode: 4), meta: (0..<152).map { UInt8($0) })
    slot.sequence = sequence
    slot.cutCount = 5
    slot.boot = BootIdentifier(low: 1, high: 2)
    return slot
  }

  @Test func `a slot is read as it was written, and not with any byte changed`() {
    let bytes = slot().bytes
    #expect(bytes.count == CheckpointSlot.byteCount)
    #expect(CheckpointSlot(bytes.span) == slot())
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0x10
      #expect(CheckpointSlot(changed.span) == nil, "byte \(index)")
    }
  }

  @Test func `the older slot is written over, and stays where the newer one is torn`() throws {
    try withTemporaryDirectory { path in
      let file = try #require(try CheckpointFile.open(folder: path, makes: true, mode: 0o600))
      #expect(file.newest() == nil)
      try file.write(slot(), after: nil)
      try file.write(slot(), after: file.newest())
      #expect(file.newest()?.sequence == 2)
      var bytes = try DamagedFileTests.read("\(path)/checkpoint.mdb")
      for index in 100..<300 { bytes[index] = 0 }
      try DamagedFileTests.write(bytes, to: "\(path)/checkpoint.mdb")
      #expect(file.newest()?.sequence == 1)
      #expect(file.newest()?.cutCount == 5)
    }
  }
}
