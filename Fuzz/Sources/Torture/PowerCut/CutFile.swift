import Glibc

/// A file as the system and as the disk have it, and the states between.
///
/// The writes since the last flush wait by sectors of 512 bytes, each with all the contents it
/// has had since: the disk may have any of them, in any combination.
struct CutFile {
  static let sectorSize = 512

  /// The part of the pending sectors that is on the disk.
  enum Choice {
    case none
    case all
    /// Each sector by itself: dropped, or any of its versions; the chance of dropping in percent.
    case random(dropping: Int)
  }

  private(set) var latest: [UInt8] = []
  /// The content of the disk; bytes beyond it have never been flushed.
  private var durable: [UInt8] = []
  private var pending: [Int: [[UInt8]]] = [:]
  private var pendingSizes: [Int] = []
  /// Sectors whose durable content the image does not have yet.
  private var stale: Set<Int> = []

  var hasPending: Bool { !pending.isEmpty || !pendingSizes.isEmpty }
  var pendingCount: Int { pending.count }

  // MARK: What the process did

  mutating func write(_ bytes: [UInt8], at offset: Int) {
    guard !bytes.isEmpty else { return }
    let end = offset + bytes.count
    if end > latest.count {
      latest += [UInt8](repeating: 0, count: end - latest.count)
      pendingSizes.append(end)
    }
    latest.replaceSubrange(offset..<end, with: bytes)
    for sector in sectors(offset..<end) { pending[sector, default: []].append(content(sector)) }
  }

  mutating func truncate(to size: Int) {
    guard size != latest.count else { return }
    if size < latest.count {
      latest.removeSubrange(size...)
      pending = pending.filter { $0.key * Self.sectorSize < size }
    } else {
      latest += [UInt8](repeating: 0, count: size - latest.count)
    }
    pendingSizes.append(size)
  }

  /// All is on the disk.
  mutating func sync() {
    stale.formUnion(pending.keys)
    durable = latest
    pending = [:]
    pendingSizes = []
  }

  /// A part is on the disk, as after a write to a descriptor opened with `O_DSYNC`.
  mutating func sync(_ range: Range<Int>) {
    if durable.count < range.upperBound {
      durable += [UInt8](repeating: 0, count: range.upperBound - durable.count)
      pendingSizes.removeAll { $0 <= durable.count }
    }
    for sector in sectors(range) {
      guard pending.removeValue(forKey: sector) != nil else { continue }
      let start = sector * Self.sectorSize
      let end = min(start + Self.sectorSize, durable.count)
      durable.replaceSubrange(start..<end, with: latest[start..<end])
      stale.insert(sector)
    }
  }

  private func sectors(_ range: Range<Int>) -> ClosedRange<Int> {
    range.lowerBound / Self.sectorSize...(range.upperBound - 1) / Self.sectorSize
  }

  private func content(_ sector: Int, of bytes: [UInt8]? = nil) -> [UInt8] {
    let bytes = bytes ?? latest
    let start = min(sector * Self.sectorSize, bytes.count)
    return Array(bytes[start..<min(start + Self.sectorSize, bytes.count)])
  }

  // MARK: What the disk may have

  /// Gives an image, which holds the last durable content, the present one.
  mutating func update(_ descriptor: CInt) throws {
    for sector in stale.sorted() {
      try put(content(sector, of: durable), sector, descriptor)
    }
    stale = []
    try resize(descriptor, durable.count)
  }

  /// Makes an image what the disk may have after a cut.
  func make(
    _ choice: Choice, on descriptor: CInt, using random: inout SeededGenerator
  ) throws {
    var size = durable.count
    switch choice {
    case .none: return
    case .all: size = latest.count
    case .random: size = ([durable.count] + pendingSizes).randomElement(using: &random) ?? size
    }
    for sector in pending.keys.sorted() {
      guard let versions = pending[sector] else { continue }
      switch choice {
      case .none: continue
      case .all: try put(versions[versions.count - 1], sector, descriptor)
      case .random(let dropping):
        if random.chance(dropping) { continue }
        try put(versions.randomElement(using: &random) ?? [], sector, descriptor)
      }
    }
    try resize(descriptor, size)
  }

  /// Makes an image durable content again.
  func restore(_ descriptor: CInt) throws {
    try resize(descriptor, durable.count)
    for sector in pending.keys where sector * Self.sectorSize < durable.count {
      try put(content(sector, of: durable), sector, descriptor)
    }
  }

  private func put(_ bytes: [UInt8], _ sector: Int, _ descriptor: CInt) throws {
    guard !bytes.isEmpty else { return }
    let count = pwrite(descriptor, bytes, bytes.count, off_t(sector * Self.sectorSize))
    try require(count == bytes.count, "pwrite: errno \(errno)")
  }

  private func resize(_ descriptor: CInt, _ size: Int) throws {
    try require(ftruncate(descriptor, off_t(size)) == 0, "ftruncate: errno \(errno)")
  }
}
