package import PandoModels
import PandoSystem

extension ModelChildren {
  /// Applies a caller's changes of a tree to the present version of the tree.
  ///
  /// It works node by node, as in ``RecordBody/rebasing(_:from:onto:lists:isNamed:isEnum:)``:
  /// unchanged parts keep their present value. A node that is in both other trees, but not in the
  /// caller's base, keeps its present value, too.
  ///
  /// - Parameters:
  ///   - new: The tree with the caller's changes.
  ///   - base: The tree that the caller had read.
  ///   - current: The present tree.
  /// - Returns: `current` with the caller's changes.
  /// - Throws: The error of the models' own coding.
  package static func rebase<Value: SimpleModel & Codable>(
    _ new: Value, from base: Value, onto current: Value
  ) throws -> Value {
    let trees = RebasedTrees()
    let root = try trees.take([base, new, current])
    // The bytes live as long as the source, which the decoder holds.
    return try unsafe RecordDecoder(source: trees).decode(
      Value.self, from: trees.body(of: root, as: Value.self))
  }
}

/// The records of three versions of a tree, and the result.
@safe private final class RebasedTrees: RecordSink, RecordSource {
  private var numbers: [ByteString: UInt64] = [:]
  private var types: [ObjectIdentifier: UInt32] = [:]
  private var names: [UInt64: String] = [:]
  private var typeNames: [UInt32: String] = [:]
  /// The bodies of each node and type in the version under way, in encoding order.
  private var bodies: [RecordReference: [[UInt8]]] = [:]
  private var merged: [RecordReference: UnsafeMutableRawBufferPointer] = unsafe [:]

  deinit { unsafe merged.values.forEach { unsafe $0.deallocate() } }

  /// Computes all bodies of the caller's changes applied to the present version.
  ///
  /// - Parameter versions: The base, the caller's and the present version.
  /// - Returns: The root.
  /// - Throws: The error of the models' own coding.
  func take(_ versions: [any SimpleModel & Encodable]) throws -> RecordReference {
    var root = RecordReference(node: 0, type: 0)
    let all = try versions.map { version in
      bodies = [:]
      root = try RecordEncoder(sink: self).encode(version)
      return bodies
    }
    let (base, new, current) = (all[0], all[1], all[2])
    let enums = EnumPlaces(in: versions[1])
    for (reference, places) in new {
      let old = base[reference]?.last
      // Of several occurrences, the last one that the caller changed counts.
      guard let wanted = places.last(where: { old != nil && $0 != old }) ?? places.last else {
        continue
      }
      guard let there = current[reference]?.last else {
        keep(wanted, as: reference)
        continue
      }
      guard let old, old != wanted else { continue }
      let body = try RecordBody.rebasing(wanted, from: old, onto: there) { place, _ in
        enums.contains(
          place, inNode: names[reference.node] ?? "", typeName: typeNames[reference.type] ?? "")
      }
      keep(body, as: reference)
    }
    for (reference, places) in current {
      if unsafe merged[reference] == nil, let body = places.last { keep(body, as: reference) }
    }
    return root
  }

  private func keep(_ body: [UInt8], as reference: RecordReference) {
    // `deinit` frees it; a reference is kept once.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 8)
    unsafe bytes.copyBytes(from: body)
    unsafe merged[reference] = unsafe bytes
  }

  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference {
    let node = numbers[ByteString(identifier)] ?? UInt64(numbers.count + 1)
    numbers[ByteString(identifier)] = node
    names[node] = identifier
    return RecordReference(node: node, type: number(of: type))
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws { bodies[reference, default: []].append(unsafe [UInt8](body)) }

  private func number(of type: any SimpleModel.Type) -> UInt32 {
    let number = types[ObjectIdentifier(type)] ?? UInt32(types.count + 1)
    types[ObjectIdentifier(type)] = number
    typeNames[number] = type.modelTypeName
    return number
  }

  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer {
    guard let bytes = unsafe merged[reference] else {
      throw ModelError(.invalidRecord, reason: "a tree refers to a node that it does not hold")
    }
    return UnsafeRawBufferPointer(bytes)
  }

  var hasEnded: Bool { false }
}
