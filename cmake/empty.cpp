// Keeps a folder that holds only headers or protos a library.
