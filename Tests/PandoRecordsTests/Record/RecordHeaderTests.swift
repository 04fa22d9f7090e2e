import PandoRecords
import Testing

@Suite struct RecordHeaderTests {
  /// Made with the reference implementation (python-xxhash 3.x over libxxhash).
  @Test(
    arguments: [
      (0, 0xef46_db37_51d8_e999, 0xac75_fda2_929b_17ef, 0x298f_4c84_b24f_5380),
      (1, 0x4fce_394c_c889_52d8, 0x7398_40cb_819f_a723, 0xd703_e7aa_2e18_b054),
      (3, 0x63e1_9de8_a523_09f9, 0x16ff_ba65_774b_ae68, 0x13c6_1a61_f695_1422),
      (4, 0x9256_e58a_a397_aef1, 0x09d5_ffdf_b928_ab4b, 0x8e6e_7c0f_e492_aaa8),
      (7, 0xab48_f5cd_83bc_b62c, 0x3502_e64a_543d_783b, 0x98d4_9bf8_dfe6_d480),
      (8, 0xf74c_b145_1b32_b8cf, 0x9c44_b77f_bcc3_02c5, 0x9f6b_e927_78fb_8d82),
      (14, 0xcffa_8db8_81bc_3a3d, 0x5b96_1158_5efc_c9cb, 0x764e_7ba0_5b83_5b7f),
      (31, 0xad09_d9a6_941d_d847, 0x9c90_d9d9_c2e3_d340, 0x324b_6afb_acbf_f287),
      (32, 0xaf57_53d3_9159_edee, 0xdcab_9233_b8ca_7b0f, 0x9b0d_5131_23da_2499),
      (33, 0x6711_cbdd_8543_baa8, 0x66e9_cecf_2f1d_e71c, 0xfb84_4d50_68d6_4f65),
      (63, 0xff44_10e1_7ce1_1efa, 0x7f71_5f51_d0f2_6050, 0x81be_0213_6faa_4ba0),
      (64, 0x18f5_388f_1d2b_a08c, 0x479e_7103_cf9a_a020, 0xc648_b289_ffd5_6708),
      (101, 0x0eab_5433_84f8_78ad, 0xcaa6_5939_306f_1e21, 0xe5cb_a1f2_e71c_40d6),
      (222, 0x9dd5_0788_0deb_b03d, 0xdc51_5172_b8ee_0600, 0x988c_16d8_9150_6242),
    ] as [(Int, UInt64, UInt64, UInt64)])
  func `the hash is XXH64`(count: Int, plain: UInt64, prime: UInt64, largest: UInt64) {
    let bytes = sequence(count)
    #expect(hash(bytes, seed: 0) == plain)
    #expect(hash(bytes, seed: 2_654_435_761) == prime)
    #expect(hash(bytes, seed: .max) == largest)
  }

  @Test func `a header is read back from its bytes`() throws {
    let body = sequence(77)
    let header = body.withUnsafeBytes {
      RecordHeader(commitNumber: 0x0102_0304_0506_0708, body: $0)
    }
    #expect(header.bytes.count == RecordHeader.byteCount)
    #expect(Array(header.bytes.prefix(8)) == [8, 7, 6, 5, 4, 3, 2, 1])
    let record = header.bytes + body
    try record.withUnsafeBytes { record in
      #expect(RecordHeader(record: record) == header)
      let found = try #require(RecordHeader.body(of: record))
      #expect(Array(found) == body)
      #expect(header.matches(found))
    }
  }

  @Test func `every flipped bit shows`() {
    let body = sequence(45)
    let header = body.withUnsafeBytes { RecordHeader(commitNumber: 9, body: $0) }
    let record = header.bytes + body
    for bit in 0..<(record.count * 8) {
      var damaged = record
      damaged[bit / 8] ^= 1 << (bit % 8)
      damaged.withUnsafeBytes { record in
        let matches = RecordHeader.body(of: record).map { body in
          RecordHeader(record: record)?.matches(body)
        }
        #expect(matches == false, "bit \(bit)")
      }
    }
  }

  @Test func `fewer bytes than a header has are no record`() {
    let bytes = sequence(15)
    bytes.withUnsafeBytes { bytes in
      #expect(RecordHeader(record: bytes) == nil)
      #expect(RecordHeader.body(of: bytes) == nil)
    }
  }

  /// The bytes that the tests of the reference implementation use.
  private func sequence(_ count: Int) -> [UInt8] {
    var state: UInt32 = 2_654_435_761
    return (0..<count).map { _ in
      defer { state = state &* state }
      return UInt8(state >> 24)
    }
  }

  private func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { XXHash64.hash($0, seed: seed) }
  }
}
