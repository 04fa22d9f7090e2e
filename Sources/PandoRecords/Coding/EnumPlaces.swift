package import PandoModels
import PandoSystem

/// The places of enums with payload in the records of a tree.
///
/// Such a value has the bytes of a dictionary with one entry, or of a structure with one field;
/// only the static types distinguish them. So a merge that finds such bytes encodes the tree again,
/// with a tag before each enum, which is never stored.
///
/// - Note: One thread at a time.
package final class EnumPlaces {
  private let tree: any SimpleModel & Encodable
  private var isComplete = false

  /// The paths in a record that the merge treats by their type.
  private struct Places {
    var enums: Set<RecordBody.Path> = []
    /// The paths of objects that look like a value of an enum, and are none.
    var others: Set<RecordBody.Path> = []
  }

  private var paths: [ByteString: [String: Places]] = [:]
  private var nodes: [(identifier: String, typeName: String)] = []

  /// Makes the places of a tree; they are searched at the first lookup.
  ///
  /// - Parameter tree: An encoded tree.
  package init(in tree: any SimpleModel & Encodable) { self.tree = tree }

  /// Whether an enum with payload is at a place.
  ///
  /// - Parameters:
  ///   - path: The place in the record.
  ///   - identifier: The node of the record.
  ///   - typeName: The type of the record.
  /// - Returns: Whether there is one.
  /// - Complexity: O(1) for a path of constant length; the first time O(*n*) for the encoded tree.
  package func contains(
    _ path: RecordBody.Path, inNode identifier: String, typeName: String
  ) -> Bool {
    places(inNode: identifier, typeName: typeName)?.enums.contains(path) ?? false
  }

  /// The places of objects that look like values of an enum with payload, and are none.
  ///
  /// - Parameters:
  ///   - identifier: The node of the record.
  ///   - typeName: The type of the record.
  /// - Returns: The places; none for a record that the tree does not have.
  /// - Complexity: As ``contains(_:inNode:typeName:)``.
  package func lookalikes(
    inNode identifier: String, typeName: String
  ) -> Set<RecordBody.Path> {
    places(inNode: identifier, typeName: typeName)?.others ?? []
  }

  private func places(inNode identifier: String, typeName: String) -> Places? {
    if !isComplete {
      isComplete = true
      // The tree was encoded before, so this does not throw.
      _ = try? RecordEncoder(sink: self).encode(tree, markingEnums: true)
    }
    return paths[ByteString(identifier)]?[typeName]
  }

  /// Adds the places in an item; list elements and tagged items are merged as a whole.
  private func add(
    _ tape: RecordTape, _ item: Int, _ path: RecordBody.Path, to places: inout Places
  ) {
    switch tape[item].kind {
    case .tagged(RecordTag.enumeration):
      places.enums.insert(path)
      add(tape, item + 1, path, to: &places)
    case .fields, .entries:
      if tape.mayBeCase(item), !places.enums.contains(path) { places.others.insert(path) }
      for inner in tape.contents(of: item) {
        // The bytes outlive the tape, and are copied here.
        let key = unsafe Array(tape.key(of: inner))
        add(tape, inner, path + key, to: &places)
      }
    case .scalar, .reference, .list, .tagged: break
    }
  }
}

extension EnumPlaces: RecordSink {
  package func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference {
    nodes.append((identifier, type.modelTypeName))
    return RecordReference(node: UInt64(nodes.count - 1), type: 1)
  }

  package func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    let node = nodes[Int(reference.node)]
    add(
      try unsafe RecordTape(body), 0, [],
      to: &paths[ByteString(node.identifier), default: [:]][node.typeName, default: Places()])
  }
}

extension EncodingFrame {
  /// Whether a type is an enum, except `Optional`.
  static func isEnum(_ type: Any.Type) -> Bool {
    // The first word of a type's metadata is its kind: 0x201 for enums, 0x202 for `Optional`.
    unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 0x201
  }

  /// Whether keys are the `CodingKeys` of an enum: a type around the enum may pass on its own
  /// encoder.
  static func belongToEnum<Key: CodingKey>(_ type: Key.Type) -> Bool {
    // Other key types may be in an enum that is only a namespace.
    guard String(describing: type) == "CodingKeys" else { return false }
    let metadata = unsafe unsafeBitCast(type, to: UnsafePointer<UnsafeRawPointer?>.self)
    let kind = unsafe UInt(bitPattern: metadata[0])
    // Enums and structures have their descriptor in the second word.
    guard kind == 0x200 || kind == 0x201, let descriptor = unsafe metadata[1] else { return false }
    // A descriptor begins with flags and the relative address of its parent; an odd one is the
    // address of a pointer to it.
    let offset = unsafe Int(descriptor.load(fromByteOffset: 4, as: Int32.self))
    guard offset != 0 else { return false }
    var parent = unsafe descriptor + 4 + (offset & ~1)
    if offset & 1 != 0 { unsafe parent = unsafe parent.load(as: UnsafeRawPointer.self) }
    // The lowest five bits of the flags are the kind of context; 18 is an enum.
    return unsafe parent.load(as: UInt32.self) & 0x1F == 18
  }
}
