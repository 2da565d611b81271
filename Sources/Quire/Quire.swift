// One import for users: the face shows what the rooms behind it are called.
@_exported public import HTTPTypes
@_exported public import QuireCore
@_exported public import QuireCurl
@_exported public import QuireHTTP
@_exported public import QuireXML
@_exported public import struct Logging.Logger
