// Replaced by the record coder within the hour.
import Foundation
package struct RecordEncoder { package init(sink: any RecordSink) {}
  package func encode<M: SimpleModel & Encodable>(_ m: M) throws -> RecordReference { fatalError() }
  package func encodeValue<M: Encodable>(_ m: M) throws -> (body: [UInt8], edges: [RecordEdge]) { fatalError() }
  package static func encodeValue<M: Encodable>(_ m: M) throws -> (body: [UInt8], edges: [RecordEdge]) { (Array(try JSONEncoder().encode(m)), []) }
}
package struct RecordDecoder { package init(source: any RecordSource) {}
  package func decode<M: Decodable>(_ m: M.Type, from: UnsafeRawBufferPointer) throws -> M { fatalError() }
  package static func decodeValue<M: Decodable>(_ m: M.Type, from: UnsafeRawBufferPointer) throws -> M { try JSONDecoder().decode(m, from: unsafe Data(from)) }
}
package enum ModelChildren { package static func forEachNode(of: any Model, _ b: (String)->Void) {} }
