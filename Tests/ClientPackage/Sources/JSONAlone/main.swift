import FoundationEssentials

struct Person: Codable {
  var id: Int, name: String
}

let person = try JSONDecoder().decode(Person.self, from: Data(#"{"id":12,"name":"Ada"}"#.utf8))
print(String(decoding: try JSONEncoder().encode(person), as: UTF8.self))
